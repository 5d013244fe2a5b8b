import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promiseBroken } from "../kit/promise.js"
import type { Outcome } from "../kit/report-checks.js"
import { type RunJest, withOneTry, withSecondTry } from "../kit/second-try.js"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "second-try-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Jest itself, on test files of the folder alone. */
const jest: RunJest = async (args) => {
  const config = JSON.stringify({
    rootDir: folder,
    testEnvironment: "node",
    transform: {},
    workerIdleMemoryLimit: "2GB",
    cacheDirectory: join(folder, "cache"),
  })
  const child = spawn(process.execPath, ["node_modules/jest/bin/jest.js", "--config", config, ...args], { stdio: "ignore" })
  return (await once(child, "exit"))[0]
}

const passes = `it("passes", () => {})`
const alwaysFails = `it("is broken", () => { throw new Error("never works") })`
/** Fails when it is run first. */
const failsOnce = (message = "too slow") => `
  const { existsSync, writeFileSync } = require("node:fs")
  it("fails once", () => {
    const again = existsSync(__filename + ".ran")
    writeFileSync(__filename + ".ran", "")
    if (!again) throw new Error(${JSON.stringify(message)})
  })
  it("passes too", () => {})`

/** What a run of these files comes to, with the names of files without the folder's. */
async function runOf(files: Record<string, string>, run = withSecondTry): Promise<Outcome> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), text)
  const { flaky, reasons, skipped, ...tally } = await run(jest, [], folder)
  const short = (line: string) => line.replace(/\S*?(\w+\.test\.js)/, "$1")
  return {
    ...tally,
    skipped: skipped.map(({ name, count }) => ({ name: short(name), count })),
    flaky: flaky.map(short),
    reasons: reasons.map(short),
  }
}

describe("npm test with a second try", () => {
  it("is green when all files pass, and counts what is skipped by its title", async () => {
    const skipped = `describe("with a program (which is missing)", () => { it.skip("one", () => {}); it.skip("two", () => {}) }); ${passes}`
    expect(await runOf({ good: passes, partly: skipped })).toEqual({
      passed: 2,
      failed: 0,
      skipped: [{ name: "partly.test.js › with a program (which is missing)", count: 2 }],
      flaky: [],
      reasons: [],
    })
  })

  it("is red by a file that always fails", async () => {
    expect(await runOf({ good: passes, bad: alwaysFails })).toMatchObject({
      passed: 1,
      failed: 1,
      flaky: [],
      reasons: ["It failed twice: bad.test.js › is broken: Error: never works"],
    })
  })

  it("is red by a file that cannot be loaded", async () => {
    expect(await runOf({ good: passes, bad: "require('./missing.js')" })).toMatchObject({
      failed: 1,
      reasons: [expect.stringContaining("bad.test.js")],
    })
  })

  it("is green by a file that fails once, and says so", async () => {
    expect(await runOf({ good: passes, shaky: failsOnce() })).toEqual({
      passed: 3,
      failed: 0,
      skipped: [],
      flaky: ["shaky.test.js › fails once: Error: too slow"],
      reasons: [],
    })
  })

  it("is red by a file that fails once by a promise", async () => {
    const reason = `A promise was broken: shaky.test.js › fails once: Error: ${promiseBroken}no message is stored twice`
    expect(await runOf({ good: passes, shaky: failsOnce(`${promiseBroken}no message is stored twice`) })).toMatchObject({
      failed: 1,
      flaky: [],
      reasons: [reason],
    })
  })

  it("is red by a file whose process ended once", async () => {
    const dies = `const { existsSync, writeFileSync } = require("node:fs")
      it("ends", () => { if (!existsSync(__filename + ".ran")) { writeFileSync(__filename + ".ran", ""); process.kill(process.pid, "SIGKILL") } })`
    expect(await runOf({ good: passes, dies })).toMatchObject({ flaky: [], reasons: [expect.stringContaining("dies.test.js")] })
  })

  it("is red by three files that fail once", async () => {
    const files = { one: failsOnce(), two: failsOnce(), three: failsOnce() }
    expect(await runOf(files)).toMatchObject({ failed: 3, flaky: [], reasons: [expect.stringContaining("3 files failed")] })
  })

  it("tries two files again, no more", async () => {
    expect(await runOf({ one: failsOnce(), two: failsOnce() })).toMatchObject({ failed: 0, reasons: [], flaky: { length: 2 } })
  })
})

it("npm test without a second try is red by a file that fails once", async () => {
  expect(await runOf({ good: passes, shaky: failsOnce() }, withOneTry)).toMatchObject({
    passed: 2,
    failed: 1,
    flaky: [],
    reasons: ["shaky.test.js › fails once: Error: too slow"],
  })
})
