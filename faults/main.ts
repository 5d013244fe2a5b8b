import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { awayCampaign } from "./away.js"
import { freezeCampaign } from "./freeze.js"
import { answeredOnce, killCampaign, type Point, points } from "./kill.js"
import { type MutationName, mutations } from "./kit/builds.js"
import { type Chance, chanceOf } from "./kit/chance.js"
import { killAll } from "./kit/instance.js"
import { Report } from "./kit/report.js"
import { openStage, type Scene, type Stage } from "./kit/stage.js"
import { comesToAnEnd, knowledgeCampaign } from "./knowledge.js"
import { resumeCampaign } from "./resume.js"
import { nothingAfter, takeOverCampaign } from "./take-over.js"
import { framesInPairs, toolCampaign } from "./tools.js"
import { writeCampaign } from "./write.js"

type Campaign = (scene: Scene, report: Report, chance: Chance) => Promise<void>

const usage = `npm run test:faults [-- --only ${"take-over,kill,…"}] [--without ${Object.keys(mutations).join("|")}]; SEED=… repeats its choices`
const given = parseArgs({ options: { only: { type: "string" }, without: { type: "string" } }, strict: true }).values
const seed = Number(process.env["SEED"] || randomInt(1_000_000))

/** Each point of the turn five times, in an order by chance. */
const strikes = chanceOf(seed, "strikes").shuffled([points, points, points, points, points].flat())
const kills =
  (lane: string, instances: number, struck: Point[], patienceMs = 60_000): Campaign =>
  (scene, report, chance) =>
    killCampaign(scene, report, chance, { lane, instances, points: struck, patienceMs })

/** Groups run one after the other, the campaigns of a group at once, each on a database of its own. */
const sound: Record<string, Record<string, Campaign>> = {
  "take-over": { "take-overs during slow answers": (...scene) => takeOverCampaign(...scene, 50) },
  kill: {
    "kill -9, first half": kills("first", 1, strikes.slice(0, 15)),
    "kill -9, second half": kills("second", 1, strikes.slice(15)),
  },
  "kill-one-of-two": {
    "kill -9 of one of two instances": kills("pair", 2, [...points]),
    "a worker that stands still": (...scene) => freezeCampaign(...scene, 4),
  },
  tools: {
    "kill -9 during turns with a tool, first half": (...scene) => toolCampaign(...scene, { lane: "first", kills: 15, customers: 3 }),
    "kill -9 during turns with a tool, second half": (...scene) => toolCampaign(...scene, { lane: "second", kills: 15, customers: 3 }),
  },
  resume: { "subscribers that are cut": (...scene) => resumeCampaign(...scene, { messages: 500, cuts: 20 }) },
  knowledge: {
    "knowledge that is indexed while its worker is killed": (...scene) =>
      knowledgeCampaign(...scene, { good: 280, poisonedOfEach: 4, kills: 10, patienceMs: 60_000 }),
  },
  write: { "messages while instances are killed": (...scene) => writeCampaign(...scene, 200) },
  away: {
    "PostgreSQL is stopped under load": (...scene) => awayCampaign(...scene, { seconds: [3, 30, 120], customers: 40, between: 400 }),
  },
}

/** What has to notice that something was taken out, and the check that has to say so. */
const mutants: Record<MutationName, { campaign: Campaign; notices: string }> = {
  fence: { campaign: (...scene) => takeOverCampaign(...scene, 16), notices: nothingAfter },
  "indexing-lease": {
    campaign: (...scene) => knowledgeCampaign(...scene, { good: 40, poisonedOfEach: 1, kills: 5, patienceMs: 30_000 }),
    notices: comesToAnEnd,
  },
  lease: { campaign: kills("lease", 1, ["in the model", "before due", "in the model"], 30_000), notices: answeredOnce },
  frames: { campaign: (...scene) => toolCampaign(...scene, { lane: "frames", kills: 5, customers: 4 }), notices: framesInPairs },
}

/** Runs a campaign on a scene of its own; one that breaks has failed. */
async function run(stage: Stage, title: string, campaign: Campaign, without?: MutationName): Promise<Report> {
  const report = new Report(title)
  const scene = await stage.scene(without)
  try {
    await campaign(scene, report, chanceOf(seed, title))
  } catch (error) {
    report.check("the campaign ran to its end", [(error as Error).stack ?? String(error)])
  } finally {
    await scene.close()
  }
  if (report.failed.length > 0 && !without) report.note(`the servers logged:\n${scene.log().slice(-4_000)}`)
  return report
}

/** The sound server has to pass every check. */
async function runSound(stage: Stage, names: string[]): Promise<boolean[]> {
  const results: boolean[] = []
  for (const name of names) {
    const reports = await Promise.all(Object.entries(sound[name]!).map(([title, campaign]) => run(stage, title, campaign)))
    for (const report of reports) {
      report.print()
      results.push(...report.findings.map(({ faults }) => faults.length === 0))
    }
  }
  return results
}

/** A mutant has to fail, and by the check that is about what was taken out. */
async function runMutants(stage: Stage, names: MutationName[]): Promise<boolean[]> {
  const judged = names.map(async (name) => {
    const { campaign, notices } = mutants[name]
    const report = await run(stage, `the server without its ${name}`, campaign, name)
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
  const opening = openStage()
  const interrupt = new Promise<number>((resolve) => {
    for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const]) process.once(signal, () => resolve(code))
  })
  const work = async () => {
    const stage = await opening
    // Asked for alone, a mutant is judged like the sound server: it fails.
    const results = without ? await runMutantAlone(stage, without) : await runSound(stage, names)
    if (!without && !given.only) results.push(...(await runMutants(stage, Object.keys(mutants) as MutationName[])))
    const failed = results.filter((passed) => !passed).length
    say(`\nSEED=${seed}, ${Math.round((performance.now() - begin) / 1000)} s`)
    say(`${results.length - failed} passed, ${failed} failed`)
    return failed > 0 ? 1 : 0
  }
  try {
    return await Promise.race([work(), interrupt])
  } finally {
    killAll()
    await opening.then((stage) => stage.close())
  }
}

async function runMutantAlone(stage: Stage, name: MutationName): Promise<boolean[]> {
  const report = await run(stage, `the server without its ${name}`, mutants[name].campaign, name)
  report.print()
  return report.findings.map(({ faults }) => faults.length === 0)
}

process.on("exit", killAll)
// What still reconnects or waits when all is said is not waited for.
process.exit(await main())
