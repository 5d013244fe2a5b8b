import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"

/** What the server is compiled from, and what its tests and tools are; the latter are left out where they are missing, as in an image. */
const ofServer = [
  "src",
  "migrations",
  "mikro-orm.config.ts",
  "tsconfig.json",
  "package-lock.json",
  "openapi.json",
  "scripts/build.ts",
  "scripts/bundle-server.ts",
]
const ofTests = ["test", "simulate", "eval", "scripts", "tsconfig.test.json"]

/** How many earlier builds stay, for processes that still run from them; younger ones than `keptForMs` stay in any case. */
const kept = 3
const keptForMs = 3_600_000

/**
 * Builds the server and its tests into `.dist-HASH`, where HASH is that of their sources, and makes `dist` a link to it. Sources that were
 * built before are not built again. The link is replaced at once, so a reader never sees a part of a build, and a process that runs from an
 * earlier build keeps it. A production installation has no compiler: there nothing is built, and it is said what to do without a build.
 */
async function build(): Promise<number> {
  removeHeaders()
  if (!fs.existsSync("node_modules/typescript")) {
    if (fs.existsSync("dist/server/main.js")) return 0
    process.stderr.write("Nothing is built, and this installation has no compiler. Run: npm ci && npm run build && npm prune --omit=dev\n")
    return 1
  }
  const projects = fs.existsSync("tsconfig.test.json") ? ["tsconfig.json", "tsconfig.test.json"] : ["tsconfig.json"]
  const folder = `.dist-${hashOf([...ofServer, ...ofTests].filter((path) => fs.existsSync(path)))}`
  if (!fs.existsSync(folder)) {
    const unfinished = `${folder}.${process.pid}.new`
    process.stderr.write("Building the server …\n")
    try {
      // Left by a killed build whose process had the same ID.
      fs.rmSync(unfinished, { recursive: true, force: true })
      startFromCurrent(unfinished)
      if (!projects.every((project) => compile(project, unfinished))) return 1
      removeOrphans(unfinished)
      // Loaded here: a production installation has no bundler.
      const { bundleServer } = await import("./bundle-server.ts")
      await Promise.all([addPages(join(unfinished, "browser")), bundleServer(unfinished)])
      // Without its line breaks and indents it is half as large.
      fs.writeFileSync(join(unfinished, "openapi.json"), JSON.stringify(JSON.parse(fs.readFileSync("openapi.json", "utf8"))))
      placeFolder(unfinished, folder)
    } finally {
      fs.rmSync(unfinished, { recursive: true, force: true })
    }
  }
  // The age of a build counts from its last use.
  fs.utimesSync(folder, new Date(), new Date())
  pointTo(folder)
  removeEarlier(folder)
  return 0
}

/** The SHA-256 of files and folders: names and contents; without documentation, which is not built. */
function hashOf(paths: string[]): string {
  const hash = createHash("sha256")
  for (const path of paths) {
    const files = fs.statSync(path).isDirectory() ? filesBelow(path).filter((file) => !file.endsWith(".md")) : [path]
    for (const file of files.sort()) hash.update(`${file}\0`).update(fs.readFileSync(file)).update("\0")
  }
  return hash.digest("hex").slice(0, 12)
}

const filesBelow = (folder: string) =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Copies the current build without its bundle, so that the compiler compiles only what has changed since. */
function startFromCurrent(folder: string) {
  if (!fs.existsSync("dist/.tsbuildinfo")) return
  const current = fs.realpathSync("dist")
  const filter = (path: string) => path !== join(current, "server")
  fs.cpSync(current, folder, { recursive: true, preserveTimestamps: true, filter })
}

/** Compiles a project into a folder; answers whether it could. The compiler prints its errors. */
function compile(project: string, folder: string): boolean {
  const info = join(folder, project.replace(/^tsconfig(.*)\.json$/, ".tsbuildinfo$1"))
  const args = ["node_modules/typescript/bin/tsc", "-p", project, "--outDir", folder, "--incremental", "--tsBuildInfoFile", info]
  try {
    execFileSync(process.execPath, args, { stdio: "inherit" })
    return true
  } catch {
    return false
  }
}

/** Removes what was compiled from sources that are gone: a migration that was renamed or removed would run all the same. */
function removeOrphans(folder: string) {
  for (const file of filesBelow(folder)) {
    const source = file.slice(folder.length + 1).replace(/\.js(\.map)?$/, "")
    if (/\.js(\.map)?$/.test(file) && !source.startsWith("browser/") && ![".ts", ".tsx"].some((end) => fs.existsSync(source + end)))
      fs.rmSync(file)
  }
}

/** Adds the files of pages, also those of libraries: a production installation does not have these libraries. */
async function addPages(folder: string) {
  fs.cpSync("src/pages/browser", folder, { recursive: true, filter: (path) => !/browser[\\/](widget|inbox)$/.test(path) })
  await Promise.all([bundleWidget(folder), bundleInbox(join(folder, "inbox"))])
  const { writeInboxManifest } = await import("./inbox-operations.ts")
  await writeInboxManifest(join(folder, "inbox", "operations.json"))
  const libraries: Record<string, string> = JSON.parse(fs.readFileSync("src/pages/browser/libraries.json", "utf8"))
  for (const [name, path] of Object.entries(libraries)) fs.copyFileSync(join("node_modules", path), join(folder, name))
  compress(folder)
}

const bundled = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning" } as const

/** Bundles the chat widget: its button, a script for any page, and the chat, a module that the button loads. */
async function bundleWidget(outdir: string) {
  const { build: bundle } = await import("esbuild")
  const entries = { widget: ["button", "iife"], "widget-chat": ["chat", "esm"] } as const
  for (const [out, [entry, format]] of Object.entries(entries))
    await bundle({ ...bundled, entryPoints: [{ in: `src/pages/browser/widget/${entry}.ts`, out }], outdir, format })
}

/** Bundles the inbox: its first view, and parts that the first view loads when they are opened. Their names contain a digest of their content. */
async function bundleInbox(outdir: string) {
  const { build: bundle } = await import("esbuild")
  const { metafile } = await bundle({
    ...bundled,
    entryPoints: ["src/pages/browser/inbox/page/main.tsx", "src/pages/browser/inbox/style/main.css"],
    outdir,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    format: "esm",
    splitting: true,
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
  })
  const current = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
  for (const name of fs.readdirSync(outdir)) if (!current.has(name.replace(/\.gz$/, ""))) fs.rmSync(join(outdir, name))
}

/** Compresses scripts and styles of pages as far as gzip can, unless they are as before; a server sends these files as they are. */
function compress(folder: string) {
  for (const file of filesBelow(folder).filter((name) => /\.(js|css)$/.test(name))) {
    const content = fs.readFileSync(file)
    const isCurrent = fs.existsSync(`${file}.gz`) && gunzipSync(fs.readFileSync(`${file}.gz`)).equals(content)
    if (!isCurrent) fs.writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
  }
}

/** Gives a finished build its name, unless another process has built the same meanwhile. */
function placeFolder(unfinished: string, folder: string) {
  try {
    fs.renameSync(unfinished, folder)
  } catch (error) {
    if (!fs.existsSync(folder)) throw error
  }
}

/** Makes `dist` a link to a build, in one step. */
function pointTo(folder: string) {
  const current = fs.lstatSync("dist", { throwIfNoEntry: false })
  if (current?.isSymbolicLink() && fs.readlinkSync("dist") === folder) return
  if (current && !current.isSymbolicLink()) fs.rmSync("dist", { recursive: true })
  const link = `.dist.${process.pid}.new`
  fs.rmSync(link, { force: true })
  fs.symlinkSync(folder, link)
  fs.renameSync(link, "dist")
}

/** Removes old builds, and what a killed build left behind. */
function removeEarlier(folder: string) {
  const builds = fs
    .readdirSync(".")
    .filter((name) => name.startsWith(".dist-") && name !== folder)
    .map((name) => ({ name, at: fs.statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY }))
    .sort((one, other) => other.at - one.at)
  for (const { name, at } of builds.slice(kept)) if (Date.now() - at > keptForMs) fs.rmSync(name, { recursive: true, force: true })
}

/** Removes Node's C++ headers, 67 MB, which only compiling native addons needs. */
function removeHeaders() {
  for (const name of fs.readdirSync("node_modules")) {
    if (/^node-.*(linux|darwin|win)-/.test(name)) fs.rmSync(`node_modules/${name}/include`, { recursive: true, force: true })
  }
}

process.exitCode = await build()
