import { randomInt } from "node:crypto"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { runCampaigns, say } from "../test/kit/campaign/main.js"
import { Report } from "../test/kit/campaign/report.js"
import { attempt, Results } from "../test/kit/campaign/results.js"
import { Seals, sealOf } from "../test/kit/campaign/seals.js"
import { measureAgain, printed } from "../test/kit/reference.js"
import { campaigns, type Group } from "./campaigns.js"
import { type MutationName, mutations, repository } from "./kit/builds.js"
import { chanceOf } from "./kit/chance.js"
import { openTestBed, type TestBed } from "./kit/test-bed.js"
import { filesOf, mutants } from "./mutants.js"
import type { Campaign } from "./sizes.js"

const usage = `npm run test:faults [-- --only ${"take-over,kill,…"}] [--full] [--mutants changed|all|none] [--without ${Object.keys(mutations).join("|")}]; SEED=… repeats its choices`
const given = parseArgs({
  options: {
    only: { type: "string" },
    full: { type: "boolean", default: false },
    mutants: { type: "string" },
    without: { type: "string" },
  },
  strict: true,
}).values
const seed = Number(process.env["SEED"] || randomInt(1_000_000))
const groups = campaigns(seed, given.full)

/** Campaigns by their place in the run, and mutants, that run at a time: most leave half of two cores idle. */
const atOnce = { campaigns: 3, paced: 2, alone: 1, mutants: 3 }

/** Seals of the mutants that were noticed. */
const sealedFile = "faults/mutants.sealed.json"

/** Runs a campaign on a new deployment; one that throws has failed. */
async function run(testBed: TestBed, title: string, campaign: Campaign, without?: MutationName): Promise<Report> {
  const report = new Report(title)
  const begin = performance.now()
  const deployment = await testBed.deployment(without)
  try {
    await campaign(deployment, report, chanceOf(seed, title))
  } catch (error) {
    report.promise("the campaign ran to its end", [(error as Error).stack ?? String(error)])
  } finally {
    await deployment.close()
  }
  report.note(`took ${Math.round((performance.now() - begin) / 1_000)} s`)
  if (report.failed.length > 0 && !without) report.note(`the servers logged:\n${deployment.log().slice(-4_000)}`)
  return report
}

/** Works through a list, so much of it at a time. */
async function inLanes<T>(items: T[], lanes: number, work: (item: T) => Promise<unknown>) {
  const waiting = [...items]
  const lane = async () => {
    for (let item = waiting.shift(); item; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** The sound server has to keep every promise, and its pace. */
async function runSound(testBed: TestBed, results: Results, chosen: [string, Group][]) {
  for (const [name, { lacks }] of chosen) if (lacks) results.skip(`${name}: ${lacks}`)
  const runs = chosen.filter(([, { lacks }]) => !lacks).map(([, group]) => group)
  const judged = async ([title, campaign]: [string, Campaign]) => {
    say(`\nbegins: ${title}`)
    await attempt(results, () => run(testBed, title, campaign))
  }
  // Those that measure are last: what else the machine does at first (.ci/run: the system's tests) is over then.
  for (const last of [undefined, "paced", "alone"] as const) {
    const now = runs.filter((group) => group.last === last).flatMap((group) => Object.entries(group.campaigns))
    await inLanes(now, atOnce[last ?? "campaigns"], judged)
  }
}

/** A mutant has to fail, and by the promise that is about what was taken out. One that was noticed with the same files is left out. */
async function runMutants(testBed: TestBed, results: Results, isForced: boolean) {
  const seals = new Seals(join(repository, sealedFile))
  const all = Object.keys(mutants) as MutationName[]
  const sealed = (name: MutationName) => sealOf(repository, filesOf(name))
  const isLeftOut = (name: MutationName) => !isForced && seals.holds(name, sealed(name))
  for (const name of all.filter(isLeftOut)) results.skip(`mutant ${name}: noticed before, with the same files`)
  const waiting = all.filter((name) => !isLeftOut(name))
  await inLanes(waiting, atOnce.mutants, async (name) => {
    const { campaign, notices } = mutants[name]
    const report = await run(testBed, `the server without its ${name}`, campaign, name)
    report.print()
    const noticed = report.failed.some((each) => each.name === notices)
    say(noticed ? `ok   without the ${name} it is noticed: ${notices}` : `FAIL without the ${name} nobody notices: ${notices}`)
    results.count(`without the ${name} nobody notices: ${notices}`, noticed)
    seals.record(name, noticed ? sealed(name) : null)
  })
  if (waiting.length > 0) say(`\n${sealedFile} is written: commit it, so that these mutants run again only when their files change`)
}

async function runAll(testBed: TestBed): Promise<Results> {
  const results = new Results()
  say(printed(await measureAgain()))
  // Asked for alone, a mutant is judged like the sound server: it fails.
  if (without) {
    const report = await run(testBed, `the server without its ${without}`, mutants[without].campaign, without)
    report.print()
    results.add(report)
    return results
  }
  await runSound(
    testBed,
    results,
    Object.entries(groups).filter(([name]) => names.includes(name)),
  )
  if (mode !== "none") await runMutants(testBed, results, mode === "all")
  return results
}

const without = given.without as MutationName | undefined
const mode = given.mutants ?? (given.only ? "none" : given.full ? "all" : "changed")
const names = given.only?.split(",").filter(Boolean) ?? Object.keys(groups)
if (
  (without && !Object.hasOwn(mutations, without)) ||
  names.some((name) => !Object.hasOwn(groups, name)) ||
  !["changed", "all", "none"].includes(mode)
) {
  say(usage)
  process.exit(2)
}
await runCampaigns(seed, openTestBed, runAll)
