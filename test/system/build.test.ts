import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

/** The scripts that reach an image: a build needs no other. */
const scripts = readFileSync(".dockerignore", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("!scripts/"))
  .map((line) => line.slice(1))

/** What a build needs, without tests, as in an image; the pages are the real ones. */
const sources = ["package.json", "package-lock.json", "tsconfig.json", "openapi.json", "src/pages/browser", ...scripts]

/** Small programs: compiling those of the server four times takes half a minute of CPU. */
const programs = {
  "src/main.ts":
    'import { limit } from "./limits.js"\n\nconsole.log(import.meta.dirname, limit)\nif (process.argv[2]) throw new Error(process.argv[2])\n',
  "src/admin/main.ts": 'import { limit } from "../limits.js"\n\nconsole.log(import.meta.dirname, limit)\n',
  "src/limits.ts": "export const limit = 7\n",
  "migrations/first.ts": "export class First {}\n",
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "build-"))
  for (const path of sources) cpSync(path, join(folder, path), { recursive: true })
  for (const [path, text] of Object.entries(programs)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs `npm run build`'s command; answers its exit code. */
const build = async () => (await once(spawn(process.execPath, ["scripts/build.ts"], { cwd: folder, stdio: "ignore" }), "exit"))[0]

const builds = () => readdirSync(folder).filter((name) => name.startsWith(".dist"))
const current = () => readlinkSync(join(folder, "dist"))
const parts = [
  "server/main.js",
  "server/admin.js",
  "migrations",
  "browser/widget.js",
  "browser/widget.js.gz",
  "browser/inbox/operations.json",
  "browser/graphiql.html",
]
const missing = () => parts.filter((part) => !existsSync(join(folder, "dist", part)))

it("two builds at once of the same sources make one build, and leave nothing else behind", async () => {
  expect(await Promise.all([build(), build()])).toEqual([0, 0])
  expect(builds()).toEqual([current()])
  expect(missing()).toEqual([])
})

it("bundled programs find files beside the modules that they were", () => {
  const run = (program: string) => execFileSync(process.execPath, [join(folder, "dist/server", program)], { encoding: "utf8" })
  const dist = realpathSync(join(folder, "dist"))
  expect(["main.js", "admin.js"].map(run)).toEqual([`${dist}/src 7\n`, `${dist}/src/admin 7\n`])
})

it("the stack of an error in a bundled program names the file and the line of its source", () => {
  const { stderr } = spawnSync(process.execPath, ["--enable-source-maps", join(folder, "dist/server/main.js"), "failed"], {
    encoding: "utf8",
  })
  expect(stderr).toMatch(/Error: failed\n {4}at .*\/src\/main\.ts:4:\d+/)
})

it("the same sources are not built again, whatever their documentation says", async () => {
  const before = statSync(join(folder, "dist/server/main.js")).ino
  writeFileSync(join(folder, "src/README.md"), "# Sources\n")
  expect(await build()).toBe(0)
  expect([builds(), statSync(join(folder, "dist/server/main.js")).ino]).toEqual([[current()], before])
})

it("other sources are built beside the current build, which is whole until it is replaced, and stays", async () => {
  const before = current()
  appendFileSync(join(folder, "src/limits.ts"), "\nexport const another = 1\n")
  let isDone = false
  const seen = new Set<string>()
  const looking = (async () => {
    while (!isDone) {
      seen.add(`${current()} ${missing()}`)
      await new Promise(setImmediate)
    }
  })()
  expect(await Promise.all([build(), build()])).toEqual([0, 0])
  isDone = true
  await looking
  expect(current()).not.toBe(before)
  expect([...seen].every((each) => each === `${before} ` || each === `${current()} `)).toBe(true)
  expect(builds().sort()).toEqual([before, current()].sort())
})

it("sources that do not compile leave the build as it was", async () => {
  const before = current()
  appendFileSync(join(folder, "src/limits.ts"), "\nexport const wrong: string = 1\n")
  expect(await build()).toBe(1)
  expect([current(), missing(), builds().length]).toEqual([before, [], 2])
})
