import { readFileSync } from "node:fs"
import { posix } from "node:path"
import { committedSources, packagesOf, root } from "../kit/house-rules.js"

const read = (path: string) => readFileSync(posix.join(root, path), "utf8")
const manifest = JSON.parse(read("package.json"))
const production = Object.keys(manifest.dependencies)
const development = Object.keys(manifest.devDependencies)
const declared = [...production, ...development]

const sources = committedSources()
/** The folders of examples that have a manifest of their own. */
const examples = sources.flatMap(({ path }) => /^(docs\/examples\/.+\/)package\.json$/.exec(path)?.[1] ?? [])
const code = sources.filter(({ path }) => /\.[jt]sx?$/.test(path) && !examples.some((folder) => path.startsWith(folder)))
/** Imports of the code in these folders: the importing files by package. */
function importers(isIn: (path: string) => boolean) {
  const found = new Map<string, string[]>()
  for (const source of code.filter(({ path }) => isIn(path)))
    for (const name of packagesOf(source)) found.set(name, [...(found.get(name) ?? []), source.path])
  return found
}
const ofServer = importers((path) => /^(src\/(?!pages\/browser\/)|migrations\/)|^mikro-orm\.config\.ts$/.test(path))
const ofAll = importers(() => true)

/** Packages that no file imports and no script of package.json names, each with its user. */
const usedOtherwise: Record<string, string> = {
  "@biomejs/biome": "npm run check",
  "@mikro-orm/cli": "the command mikro-orm, which writes migrations",
  "@modelcontextprotocol/conformance": "a command of test/mcp-servers/mcp-client-conformance.test.ts, test/system/mcp-conformance.test.ts",
  "@modelcontextprotocol/server-everything": "test/mcp-servers/mcp-servers-of-others.test.ts runs it",
  "axe-core": "test/kit/inbox-page.ts reads it",
  graphiql: "a page, src/pages/browser/libraries.json",
  jest: "test/kit/run.ts",
  "@jest/test-sequencer": "test/kit/jest/sequencer.ts requires it",
  "@jest/globals": "test/kit/jest/runner.ts gets it from Jest's runtime",
  "jest-circus": "test/kit/jest/runner.ts requires it",
  "swagger-ui-dist": "a page, src/pages/browser/libraries.json",
  typescript: "scripts/build.ts and npm run check",
}

const scripts = Object.values<string>(manifest.scripts)
  .join(" ")
  .split(/[\s;&]+/)

/** The package that types are for, such as `@koa/router` of `@types/koa__router`. */
const typed = (name: string) => name.replace("@types/", "").replace(/^(.+)__/, "@$1/")

describe("package.json", () => {
  it("lists what the server imports in its dependencies", () => {
    expect([...ofServer].filter(([name]) => !production.includes(name))).toEqual([])
  })

  it("lists what other files import", () => {
    const bench = Object.keys(JSON.parse(read("bench/package.json")).dependencies)
    const isDeclared = (name: string, by: string[]) =>
      declared.includes(name) || (bench.includes(name) && by.every((path) => path.startsWith("bench/postgraphile")))
    expect([...ofAll].filter(([name, by]) => !isDeclared(name, by))).toEqual([])
  })

  it("lists no unused package, and in production none that the server does not use", () => {
    const isTyped = (name: string) => declared.includes(typed(name)) || typed(name) === "node"
    const isUsed = (name: string) => (name.startsWith("@types/") ? isTyped(name) : ofAll.has(name) || scripts.includes(name))
    expect(declared.filter((name) => !isUsed(name) && !usedOtherwise[name])).toEqual([])
    expect(production.filter((name) => !ofServer.has(name) && name !== "@mikro-orm/cli")).toEqual([])
    expect(Object.keys(usedOtherwise).filter((name) => !declared.includes(name) || isUsed(name))).toEqual([])
  })

  it("pins every version, and the same for packages of one family", () => {
    const versions: Record<string, string> = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies }
    expect(Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
    const ofMapper = Object.entries(versions).filter(([name]) => name.startsWith("@mikro-orm/"))
    expect(new Set(ofMapper.map(([, version]) => version)).size).toBe(1)
  })

  it("has MikroORM's version of Kysely, so that there is one", () => {
    const lock = JSON.parse(read("package-lock.json")).packages
    expect(manifest.dependencies.kysely).toBe(lock["node_modules/@mikro-orm/sql"].dependencies.kysely)
    expect(Object.keys(lock).filter((path) => path.endsWith("node_modules/kysely"))).toEqual(["node_modules/kysely"])
  })

  it("runs no script while it is installed, with any version of npm", () => {
    expect(read(".npmrc").split("\n")).toContain("ignore-scripts=true")
    const atInstallation = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"]
    expect(Object.keys(manifest.scripts).filter((name) => atInstallation.includes(name))).toEqual([])
  })

  it("has the same Node flags wherever a start command is shown", () => {
    const [, flags] = /exec node (.+) dist\/server\/main\.js$/.exec(manifest.scripts.start)!
    const shown = sources
      .filter(({ path }) => !path.endsWith(".ts"))
      .flatMap(({ path, text }) => text.split("\n").map((line) => ({ path, command: line.replace(/["`,]/g, "") })))
      .filter(({ command }) => /\bnode\b.*dist\/(server|src)\/main\.js/.test(command))
    expect(new Set(shown.map(({ path }) => path))).toEqual(new Set(["package.json", "Dockerfile", "docs/operations.md"]))
    expect(shown.filter(({ command }) => !command.includes(`${flags} dist/server/main.js`))).toEqual([])
  })
})
