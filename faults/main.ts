import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { awayCampaign } from "./away.js"
import { clockCampaign } from "./clock.js"
import { freezeCampaign } from "./freeze.js"
import { answeredOnce, killCampaign, type Point, points } from "./kill.js"
import { type MutationName, mutations } from "./kit/builds.js"
import { type Chance, chanceOf } from "./kit/chance.js"
import { killAll } from "./kit/instance.js"
import { Report } from "./kit/report.js"
import { type Deployment, openTestBed, type TestBed } from "./kit/test-bed.js"
import { comesToAnEnd, knowledgeCampaign } from "./knowledge.js"
import { resumeCampaign } from "./resume.js"
import { nothingAfter, takeOverCampaign } from "./take-over.js"
import { framesInPairs, toolCampaign } from "./tools.js"
import { writeCampaign } from "./write.js"

type Campaign = (deployment: Deployment, report: Report, chance: Chance) => Promise<void>

const usage = `npm run test:faults [-- --only ${"take-over,kill,…"}] [--without ${Object.keys(mutations).join("|")}]; SEED=… repeats its choices`
const given = parseArgs({ options: { only: { type: "string" }, without: { type: "string" } }, strict: true }).values
const seed = Number(process.env["SEED"] || randomInt(1_000_000))

/** Each point of the turn five times, in an order by chance. */
const strikes = chanceOf(seed, "strikes").shuffled([points, points, points, points, points].flat())
const kills =
  (lane: string, instances: number, struck: Point[], patienceMs = 60_000): Campaign =>
  (deployment, report, chance) =>
    killCampaign(deployment, report, chance, { lane, instances, points: struck, patienceMs })

/** Groups run one after the other, the campaigns of a group at once, each on a database of its own. */
const sound: Record<string, Record<string, Campaign>> = {
  "take-over": { "take-overs during slow answers": (...args) => takeOverCampaign(...args, 50) },
  kill: {
    "kill -9, first half": kills("first", 1, strikes.slice(0, 15)),
    "kill -9, second half": kills("second", 1, strikes.slice(15)),
  },
  "kill-one-of-two": {
    "kill -9 of one of two instances": kills("pair", 2, [...points]),
    "a worker that stands still": (...args) => freezeCampaign(...args, 4),
  },
  clock: {
    "an instance is killed with 500 due times": (...args) => clockCampaign(...args, { customers: 500, pauseMs: 50, debounceMs: 40_000 }),
  },
  tools: {
    "kill -9 during turns with a tool, first half": (...args) => toolCampaign(...args, { lane: "first", kills: 15, customers: 3 }),
    "kill -9 during turns with a tool, second half": (...args) => toolCampaign(...args, { lane: "second", kills: 15, customers: 3 }),
  },
  resume: { "subscribers that are cut": (...args) => resumeCampaign(...args, { messages: 500, cuts: 20 }) },
  knowledge: {
    "knowledge that is indexed while its worker is killed": (...args) =>
      knowledgeCampaign(...args, { good: 280, poisonedOfEach: 4, kills: 10, patienceMs: 60_000 }),
  },
  write: { "messages while instances are killed": (...args) => writeCampaign(...args, 200) },
  away: {
    "PostgreSQL is stopped under load": (...args) => awayCampaign(...args, { seconds: [3, 30, 120], customers: 40, between: 400 }),
  },
}

/** What has to notice that something was taken out, and the check that has to say so. */
const mutants: Record<MutationName, { campaign: Campaign; notices: string }> = {
  fence: { campaign: (...args) => takeOverCampaign(...args, 16), notices: nothingAfter },
  "statement-fence": { campaign: (...args) => takeOverCampaign(...args, 16), notices: nothingAfter },
  "indexing-lease": {
    campaign: (...args) => knowledgeCampaign(...args, { good: 40, poisonedOfEach: 1, kills: 5, patienceMs: 30_000 }),
    notices: comesToAnEnd,
  },
  lease: { campaign: kills("lease", 1, ["in the model", "before due", "in the model"], 30_000), notices: answeredOnce },
  frames: { campaign: (...args) => toolCampaign(...args, { lane: "frames", kills: 5, customers: 4 }), notices: framesInPairs },
}

/** Runs a campaign on a new deployment; one that throws has failed. */
async function run(testBed: TestBed, title: string, campaign: Campaign, without?: MutationName): Promise<Report> {
  const report = new Report(title)
  const deployment = await testBed.deployment(without)
  try {
    await campaign(deployment, report, chanceOf(seed, title))
  } catch (error) {
    report.check("the campaign ran to its end", [(error as Error).stack ?? String(error)])
  } finally {
    await deployment.close()
  }
  if (report.failed.length > 0 && !without) report.note(`the servers logged:\n${deployment.log().slice(-4_000)}`)
  return report
}

/** The sound server has to pass every check. */
async function runSound(testBed: TestBed, names: string[]): Promise<boolean[]> {
  const results: boolean[] = []
  for (const name of names) {
    const reports = await Promise.all(Object.entries(sound[name]!).map(([title, campaign]) => run(testBed, title, campaign)))
    for (const report of reports) {
      report.print()
      results.push(...report.findings.map(({ faults }) => faults.length === 0))
    }
  }
  return results
}

/** A mutant has to fail, and by the check that is about what was taken out. */
async function runMutants(testBed: TestBed, names: MutationName[]): Promise<boolean[]> {
  const judged = names.map(async (name) => {
    const { campaign, notices } = mutants[name]
    const report = await run(testBed, `the server without its ${name}`, campaign, name)
    report.print()
    return { name, notices, noticed: report.failed.some(({ check }) => check === notices) }
  })
  const results = await Promise.all(judged)
  for (const { name, notices, noticed } of results)
    say(noticed ? `ok   without the ${name} it is noticed: ${notices}` : `FAIL without the ${name} nobody notices: ${notices}`)
  return results.map(({ noticed }) => noticed)
}

const say = (line: string) => process.stdout.write(`${line}\n`)

async function main(): Promise<number> {
  const without = given.without as MutationName | undefined
  const names = given.only?.split(",") ?? Object.keys(sound)
  if ((without && !Object.hasOwn(mutations, without)) || names.some((name) => !Object.hasOwn(sound, name))) {
    say(usage)
    return 2
  }
  const begin = performance.now()
  say(`SEED=${seed}`)
  const opening = openTestBed()
  const interrupt = new Promise<number>((resolve) => {
    for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const]) process.once(signal, () => resolve(code))
  })
  const work = async () => {
    const testBed = await opening
    // Asked for alone, a mutant is judged like the sound server: it fails.
    const results = without ? await runMutantAlone(testBed, without) : await runSound(testBed, names)
    if (!without && !given.only) results.push(...(await runMutants(testBed, Object.keys(mutants) as MutationName[])))
    const failed = results.filter((passed) => !passed).length
    say(`\nSEED=${seed}, ${Math.round((performance.now() - begin) / 1000)} s`)
    say(`${results.length - failed} passed, ${failed} failed`)
    return failed > 0 ? 1 : 0
  }
  try {
    return await Promise.race([work(), interrupt])
  } finally {
    killAll()
    await opening.then((testBed) => testBed.close())
  }
}

async function runMutantAlone(testBed: TestBed, name: MutationName): Promise<boolean[]> {
  const report = await run(testBed, `the server without its ${name}`, mutants[name].campaign, name)
  report.print()
  return report.findings.map(({ faults }) => faults.length === 0)
}

process.on("exit", killAll)
// What still reconnects or waits when all is said is not waited for.
process.exit(await main())
