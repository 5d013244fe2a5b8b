import { execFileSync } from "node:child_process"
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"

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
  cpSync("src/pages/browser", "dist/browser", { recursive: true, filter: (path) => !/browser[\\/](widget|inbox)$/.test(path) })
  await Promise.all([bundleWidget(), bundleInbox()])
  const libraries: Record<string, string> = JSON.parse(readFileSync("src/pages/browser/libraries.json", "utf8"))
  for (const [name, path] of Object.entries(libraries)) copyFileSync(join("node_modules", path), join("dist/browser", name))
  compress()
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

/** Bundles the inbox: its first view, and parts that the first view loads when they are opened. Their names contain a digest of their content. */
async function bundleInbox() {
  const { build: bundle } = await import("esbuild")
  const { outputFiles } = await bundle({
    write: false,
    entryPoints: ["src/pages/browser/inbox/page/main.tsx", "src/pages/browser/inbox/style/main.css"],
    outdir: "dist/browser/inbox",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    format: "esm",
    splitting: true,
    bundle: true,
    minify: true,
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  })
  // A server may start meanwhile from this folder: what it reads is never missing, nor written in part.
  mkdirSync("dist/browser/inbox", { recursive: true })
  for (const { path, contents } of outputFiles) if (!existsSync(path)) replace(path, contents)
  const current = new Set(outputFiles.map(({ path }) => basename(path)))
  for (const name of readdirSync("dist/browser/inbox"))
    if (!name.endsWith(".new") && !current.has(name.replace(/\.gz$/, ""))) rmSync(join("dist/browser/inbox", name), { force: true })
}

/** Writes a file at once: a reader gets the one before or this one. */
function replace(path: string, contents: Uint8Array) {
  const written = `${path}.${process.pid}.new`
  writeFileSync(written, contents)
  renameSync(written, path)
}

/** Compresses the scripts and styles of pages as far as gzip can; a server sends these files as they are. */
function compress() {
  for (const name of readdirSync("dist/browser", { recursive: true, encoding: "utf8" })) {
    const file = join("dist/browser", name)
    if (!/\.(js|css)$/.test(name)) continue
    const content = readFileSync(file)
    // Every start builds; what has not changed is not compressed again.
    if (existsSync(`${file}.gz`) && gunzipSync(readFileSync(`${file}.gz`)).equals(content)) continue
    replace(`${file}.gz`, gzipSync(content, { level: 9 }))
  }
}

/** Removes Node's C++ headers, 67 MB, which only compiling native addons needs. */
function removeHeaders() {
  for (const name of readdirSync("node_modules")) {
    if (/^node-.*(linux|darwin|win)-/.test(name)) rmSync(`node_modules/${name}/include`, { recursive: true, force: true })
  }
}

process.exitCode = await build()
