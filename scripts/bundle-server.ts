import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { type BuildOptions, build, type Plugin } from "esbuild"

/** The programs of a build, and the compiled files that they begin with. */
const programs = { main: "./src/main.js", admin: "./src/admin/main.js" }

/** Native packages; one that type-graphql would import if it were used; and one that loads a part of itself later, whose errors it knows by their class. */
const absent = /^(@node-rs\/|class-validator$|file-type$)/

/** What modules do not have and libraries in CommonJS use, and the address of a file by its place beside the bundle. */
const banner = [
  'import { createRequire as __createRequire } from "node:module"',
  'import { fileURLToPath as __fileURLToPath } from "node:url"',
  "const require = __createRequire(import.meta.url), __placed = (path) => new globalThis.URL(path, import.meta.url).href",
  'const __filename = __fileURLToPath(import.meta.url), __dirname = __fileURLToPath(__placed("."))',
].join("\n")

/**
 * Bundles what a server and the command line load at their start, 2,700 modules, into a few files below `server` in a build: a start takes two
 * thirds of the time then. What they load later, and native packages, stay where they are installed.
 */
export async function bundleServer(folder: string) {
  const absWorkingDir = resolve(folder)
  const outdir = join(absWorkingDir, "server")
  rmSync(outdir, { recursive: true, force: true })
  const common = { absWorkingDir, outdir, bundle: true, format: "esm", platform: "node", metafile: true } as const
  const imported = await importedBy({ ...common, entryPoints: programs, write: false, packages: "external" })
  const { metafile } = await build({
    ...common,
    entryPoints: { ...programs, [libraries]: libraries },
    splitting: true,
    target: "node20",
    banner: { js: banner },
    // Entities, errors and metrics are named by their classes.
    keepNames: true,
    // V8 keeps the text of all code, and two bytes of each character where one does not fit in a byte, as in the comments of libraries.
    minifyWhitespace: true,
    lineLimit: 160,
    charset: "ascii",
    legalComments: "linked",
    // A map has the places of the sources, not their text.
    sourcemap: "linked",
    sourcesContent: false,
    logLevel: "warning",
    logOverride: { "ignored-bare-import": "silent" },
    plugins: [packages(imported, absWorkingDir), placed(absWorkingDir, outdir)],
  })
  for (const [file, { inputs }] of Object.entries(metafile.outputs))
    if (file.endsWith(".js") && Object.keys(inputs).every((path) => path.includes("node_modules/"))) removeMap(join(absWorkingDir, file))
}

/** An entry of all packages, which nothing loads: it makes esbuild keep them apart from own modules, whose source maps a start reads. */
const libraries = "libraries"

const packages = (names: string[], resolveDir: string): Plugin => ({
  name: "packages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[@\w]/ }, ({ path, kind, importer }) => {
      if (kind === "entry-point") return path === libraries ? { path, namespace: libraries } : undefined
      // What own modules import when it is needed is loaded from where it is installed.
      const isLater = kind === "dynamic-import" && !importer.includes("/node_modules/")
      return isLater || absent.test(path) ? { path, external: true } : undefined
    })
    onLoad({ filter: /./, namespace: libraries }, () => ({
      contents: names.map((name) => `import ${JSON.stringify(name)}\n`).join(""),
      resolveDir,
    }))
  },
})

/** The packages that programs import at their start. */
async function importedBy(options: BuildOptions & { metafile: true }): Promise<string[]> {
  const { metafile } = await build(options)
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  return [...new Set(imports.filter(({ kind, external }) => external && kind === "import-statement").map(({ path }) => path))].sort()
}

/** Own modules find files beside them by their own address, not by that of the bundle. */
const placed = (folder: string, outdir: string): Plugin => ({
  name: "placed",
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (!path.startsWith(folder)) return
      const place = JSON.stringify(relative(outdir, path))
      const directory = JSON.stringify(relative(outdir, dirname(path)))
      const contents = readFileSync(path, "utf8")
        .replace(/\bimport\.meta\.url\b/g, `__placed(${place})`)
        .replace(/\bimport\.meta\.dirname\b/g, `__fileURLToPath(__placed(${directory}))`)
      return { contents, loader: "js" }
    })
  },
})

/** Removes the source map of a file with libraries alone: a start would read it. */
function removeMap(file: string) {
  rmSync(`${file}.map`)
  writeFileSync(file, readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*\n?/gm, ""))
}
