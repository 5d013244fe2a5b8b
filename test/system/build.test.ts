import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

/** What the server is built from; without tests, as in an image. */
const sources = ["package.json", "package-lock.json", "tsconfig.json", "mikro-orm.config.ts", "migrations", "src", "scripts/build.ts"]

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "build-"))
  for (const path of sources) cpSync(path, join(folder, path), { recursive: true })
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs `npm run build`'s command; answers its exit code. */
const build = async () => (await once(spawn(process.execPath, ["scripts/build.ts"], { cwd: folder, stdio: "ignore" }), "exit"))[0]

const builds = () => readdirSync(folder).filter((name) => name.startsWith(".dist"))
const current = () => readlinkSync(join(folder, "dist"))
const parts = ["src/main.js", "migrations", "browser/widget.js", "browser/widget.js.gz", "browser/inbox", "browser/graphiql.html"]
const missing = () => parts.filter((part) => !existsSync(join(folder, "dist", part)))

it("two builds at once of the same sources make one build, and leave nothing else behind", async () => {
  expect(await Promise.all([build(), build()])).toEqual([0, 0])
  expect(builds()).toEqual([current()])
  expect(missing()).toEqual([])
})

it("the same sources are not built again", async () => {
  const before = statSync(join(folder, "dist/src/main.js")).ino
  expect(await build()).toBe(0)
  expect([builds(), statSync(join(folder, "dist/src/main.js")).ino]).toEqual([[current()], before])
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
