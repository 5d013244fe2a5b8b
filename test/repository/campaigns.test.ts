import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Report } from "../kit/campaign/report.js"
import { attempt, Results } from "../kit/campaign/results.js"
import { Seals, sealOf, sourcesIn } from "../kit/campaign/seals.js"
import { until } from "../kit/campaign/wait.js"
import { duration } from "../kit/pace.js"
import { measureAgain } from "../kit/reference.js"
import { reportChecks } from "../kit/report-checks.js"

/** Collects what is printed, so that the output of the tests does not contain failures. */
let printed = ""
beforeEach(() => {
  printed = ""
  jest.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += text
    return true
  })
})
afterEach(() => jest.restoreAllMocks())

/** A campaign that finds something else at each attempt, and counts them. */
function fake(...finds: ((report: Report) => Promise<void> | void)[]) {
  const campaign = {
    attempts: 0,
    async run() {
      const report = new Report("fake")
      await finds[Math.min(campaign.attempts++, finds.length - 1)]!(report)
      return report
    },
  }
  return campaign
}
const late = (report: Report) => report.pace("an answer", 5, 1, "times")
const inTime = (report: Report) => report.pace("an answer", 1, 1, "times")
const lost = (report: Report) => report.promise("nothing is lost", ["a message"])
const kept = (report: Report) => report.promise("nothing is lost", [])

/** The last lines of a run. */
function linesOf(results: Results): string[] {
  const lines: string[] = []
  reportChecks(results, (line) => lines.push(line))
  return lines
}

async function attempted(...finds: Parameters<typeof fake>) {
  const [results, campaign] = [new Results(), fake(...finds)]
  await attempt(results, () => campaign.run())
  return { results, attempts: campaign.attempts }
}

describe("a campaign", () => {
  it("that fails a pace once runs again, counts as passed, and is named as flaky with its first ratio", async () => {
    const { results, attempts } = await attempted(late, inTime)
    expect([attempts, results.passed, results.failed]).toEqual([2, 1, 0])
    expect(linesOf(results)).toEqual([
      "FLAKY fake › an answer: 5 times, bound 1 times, ratio 5.00",
      "1 passed, 0 failed, 0 skipped, 1 flaky",
    ])
    expect(printed).toContain("once more")
  })

  it("that fails a pace always has failed after two attempts, and is not flaky", async () => {
    const { results, attempts } = await attempted(late)
    expect([attempts, results.failed, results.flaky]).toEqual([2, 1, []])
  })

  it("that fails a promise does not run again, whatever its paces", async () => {
    const { results, attempts } = await attempted(async (report) => {
      await late(report)
      lost(report)
    }, inTime)
    expect([attempts, results.failed, results.flaky]).toEqual([1, 2, []])
    expect(results.reasons[1]).toBe("fake › nothing is lost: a message")
  })

  it("that fails a pace, and at the second attempt a promise, has failed", async () => {
    const { results, attempts } = await attempted(late, lost)
    expect([attempts, results.failed, results.flaky]).toEqual([2, 1, []])
  })

  it("that passes runs once", async () => {
    const { results, attempts } = await attempted(async (report) => {
      kept(report)
      await inTime(report)
    })
    expect([attempts, results.passed, results.failed, results.flaky]).toEqual([1, 2, 0, []])
  })
})

describe("a pace", () => {
  const ratioOf = async (find: (report: Report) => Promise<void>) => {
    const report = new Report("paces")
    await find(report)
    return report.failed.length
  }

  it("fails beyond four times its bound, and a ratio of two times does not depend on the machine", async () => {
    expect(await ratioOf((report) => report.pace("four times", 4, 1, "times"))).toBe(0)
    expect(await ratioOf((report) => report.pace("more", 4.1, 1, "times"))).toBe(1)
  })

  it("in milliseconds is compared with the speed of the machine", async () => {
    const { slowdown } = await measureAgain()
    expect(await ratioOf((report) => report.pace("at the bound", 1_000 * slowdown, 1_000))).toBe(0)
    expect(await ratioOf((report) => report.pace("far beyond", 1_000_000 * slowdown, 1_000))).toBe(1)
  })

  it("of something that did not come about fails, and of something that nobody wanted holds", async () => {
    expect(await ratioOf((report) => report.reached("kills in a call", 0, 2))).toBe(1)
    expect(await ratioOf((report) => report.reached("calls beyond those that were expected", -1, 2))).toBe(1)
    expect(await ratioOf((report) => report.reached("kills in a call", 1, 2))).toBe(0)
    expect(await ratioOf((report) => report.reached("kills in a call", 0, 0))).toBe(0)
  })

  it("of what came about in a given time is compared with the speed of the machine", async () => {
    const { slowdown } = await measureAgain()
    expect(await ratioOf((report) => report.reached("questions before the kill", 100, 200 * slowdown))).toBe(0)
    expect(await ratioOf((report) => report.reached("questions before the kill", 1, 1_000 * slowdown))).toBe(1)
  })
})

it("a deadline is that of a quiet machine", async () => {
  let holds = true
  const waited = await duration(async () => {
    holds = await until(() => false, 20)
  })
  expect([holds, waited >= 20]).toEqual([false, true])
})

it("what was skipped is counted, with its reason", () => {
  const results = new Results()
  results.skip("events-redis-lost: no Redis")
  expect(linesOf(results)).toEqual(["SKIPPED events-redis-lost: no Redis: 1", "0 passed, 0 failed, 1 skipped, 0 flaky"])
})

describe("the seal of a mutant", () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "seals-"))
    writeFileSync(join(folder, "source.ts"), "return true")
    writeFileSync(join(folder, "campaign.ts"), "kill()")
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it("holds as long as its files are those that were noticed", () => {
    const path = join(folder, "seals.json")
    const files = sourcesIn(folder, ".")
    new Seals(path).record("fence", sealOf(folder, files))
    expect(new Seals(path).holds("fence", sealOf(folder, files))).toBe(true)
    expect(new Seals(path).holds("lease", sealOf(folder, files))).toBe(false)
    for (const file of files) {
      const content = readFileSync(join(folder, file), "utf8")
      writeFileSync(join(folder, file), `${content};`)
      expect(new Seals(path).holds("fence", sealOf(folder, files))).toBe(false)
      writeFileSync(join(folder, file), content)
    }
    expect(new Seals(path).holds("fence", sealOf(folder, files))).toBe(true)
  })

  it("is removed when nobody notices the mutant", () => {
    const path = join(folder, "seals.json")
    const seals = new Seals(path)
    seals.record("fence", "1")
    seals.record("frames", "2")
    seals.record("fence", null)
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ frames: "2" })
  })
})
