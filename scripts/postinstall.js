import { readdirSync, rmSync } from "node:fs"

// The packages of Node bring its C++ headers, 67 MB, with which native addons are compiled. Nothing is compiled here.
for (const name of readdirSync("node_modules")) {
  if (/^node-.*(linux|darwin|win)-/.test(name)) rmSync(`node_modules/${name}/include`, { recursive: true, force: true })
}
