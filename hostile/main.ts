import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { runCampaigns, say } from "../test/kit/campaign/main.js"
import { Report } from "../test/kit/campaign/report.js"
import { attempt, Results } from "../test/kit/campaign/results.js"
import { attacks } from "./attacks/list.js"
import { runAttack } from "./attacks/run.js"
import { campaign } from "./campaign.js"
import { openTestBed, type TestBed } from "./kit/test-bed.js"

const names = ["generator", ...Object.keys(attacks)]
const usage = `npm run test:hostile [-- --only ${names.slice(0, 2).join(",")},…]; SEED=… repeats the requests, HOSTILE_REQUESTS=… changes their number (below 20,000 memory and coverage are not judged)`
const given = parseArgs({ options: { only: { type: "string" } }, strict: true }).values
const seed = Number(process.env["SEED"] || randomInt(1_000_000))
const requests = Number(process.env["HOSTILE_REQUESTS"] || 100_000)

/** So much of the log of a server that has ended is shown, in characters. */
const lastWords = 2_000

// What is judged here is compared with the same client at rest, in the same run.
process.env["PACE_FACTOR"] ??= "1"

/** Runs a part; one that throws has failed. */
async function run(bed: TestBed, title: string, work: (report: Report) => Promise<void>): Promise<Report> {
  const report = new Report(title)
  try {
    await work(report)
  } catch (error) {
    const ended = bed.watch.ended.map((how) => `the server: ${how}; its last words: ${bed.server.log.slice(-lastWords)}`)
    report.promise("it ran to its end", [(error as Error).stack ?? String(error), String((error as Error).cause ?? ""), ...ended])
  }
  return report
}

async function runAll(bed: TestBed, chosen: string[]): Promise<Results> {
  const results = new Results()
  const judged = (title: string, work: (report: Report) => Promise<void>) => attempt(results, () => run(bed, title, work))
  if (chosen.includes("generator")) await judged(`${requests} generated requests`, (report) => campaign(bed, report, seed, requests))
  const named = Object.entries(attacks).filter(([name]) => chosen.includes(name))
  if (named.length === 0) return results
  // The pages that are to be crawled are on this machine.
  await bed.restart({ ALLOW_PRIVATE_NETWORK: "true" })
  for (const [, attack] of named) await judged(attack.title, (report) => runAttack(bed, attack, report))
  return results
}

const chosen = given.only?.split(",") ?? names
if (chosen.some((name) => !names.includes(name)) || !(requests > 0)) {
  say(usage)
  process.exit(2)
}
await runCampaigns(seed, openTestBed, (bed) => runAll(bed, chosen))
