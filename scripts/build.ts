import { execFileSync } from "node:child_process"
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"

/**
 * Compiles the server into `dist`, and copies the files of its pages there, also those of libraries: a production installation has neither the
 * compiler nor these libraries. There it builds nothing, and prints what to do when there is no build. Usage: node scripts/build.ts [PROJECT …]
 */
async function build(): Promise<number> {
  removeHeaders()
  if (!existsSync("node_modules/typescript")) {
    if (existsSync("dist/src/main.js")) return 0
    process.stderr.write("Nothing is built, and this installation has no compiler. Run: npm ci && npm run build && npm prune --omit=dev\n")
    return 1
  }
  const projects = process.argv.length > 2 ? process.argv.slice(2) : ["tsconfig.json"]
  try {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-b", ...projects], { stdio: "inherit" })
  } catch {
    // The compiler has printed its errors.
    return 1
  }
  // A migration that was renamed or removed would run all the same.
  const compiled = readdirSync("dist/migrations").filter((file) => !existsSync(join("migrations", file.replace(/\.js(\.map)?$/, ".ts"))))
  for (const file of compiled) rmSync(join("dist/migrations", file))
  cpSync("src/pages/browser", "dist/browser", { recursive: true, filter: (path) => !/browser[\\/]widget$/.test(path) })
  await bundleWidget()
  const libraries: Record<string, string> = JSON.parse(readFileSync("src/pages/browser/libraries.json", "utf8"))
  for (const [name, path] of Object.entries(libraries)) copyFileSync(join("node_modules", path), join("dist/browser", name))
  return 0
}

/** Bundles the chat widget: its button, a script for any page, and the chat, a module that the button loads. */
async function bundleWidget() {
  const { build: bundle } = await import("esbuild")
  const entries = { widget: ["button", "iife"], "widget-chat": ["chat", "esm"] } as const
  for (const [out, [entry, format]] of Object.entries(entries)) {
    const files = { entryPoints: [{ in: `src/pages/browser/widget/${entry}.ts`, out }], outdir: "dist/browser" }
    await bundle({
      ...files,
      format,
      bundle: true,
      minify: true,
      target: "es2022",
      charset: "utf8",
      legalComments: "none",
      logLevel: "warning",
    })
  }
}

/** Removes Node's C++ headers, 67 MB, which only compiling native addons needs. */
function removeHeaders() {
  for (const name of readdirSync("node_modules")) {
    if (/^node-.*(linux|darwin|win)-/.test(name)) rmSync(`node_modules/${name}/include`, { recursive: true, force: true })
  }
}

process.exitCode = await build()
