import { readdirSync, rmSync } from "node:fs"

// Removes Node's C++ headers, 67 MB, which only compiling native addons needs.
for (const name of readdirSync("node_modules")) {
  if (/^node-.*(linux|darwin|win)-/.test(name)) rmSync(`node_modules/${name}/include`, { recursive: true, force: true })
}
