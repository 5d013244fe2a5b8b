import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { runCampaigns, say } from "../test/kit/campaign/main.js"
import { Report } from "../test/kit/campaign/report.js"
import { hasNginx } from "../test/kit/nginx.js"
import { awayCampaign } from "./away.js"
import { type CallSize, callCampaign, dialedOnce } from "./calls.js"
import { clockCampaign } from "./clock.js"
import { deliveriesCampaign } from "./event-webhooks.js"
import { eventsCampaign } from "./events.js"
import { freezeCampaign } from "./freeze.js"
import { inboundCampaign, storedOnce } from "./inbound.js"
import { answeredOnce, killCampaign, type Point, points } from "./kill.js"
import { type MutationName, mutations } from "./kit/builds.js"
import { type Chance, chanceOf } from "./kit/chance.js"
import { marked, nothingAfterwards } from "./kit/outbound-findings.js"
import { hasRedis } from "./kit/redis.js"
import { type Deployment, openTestBed, type TestBed } from "./kit/test-bed.js"
import { comesToAnEnd, knowledgeCampaign } from "./knowledge.js"
import { outboundCampaign } from "./outbound.js"
import { resumeCampaign } from "./resume.js"
import { rollingRestartCampaign } from "./rolling-restart.js"
import { slowEndpointsCampaign } from "./slow-endpoints.js"
import { nothingAfter, takeOverCampaign } from "./take-over.js"
import { framesInPairs, toolCampaign } from "./tools.js"
import { writeCampaign } from "./write.js"

type Campaign = (deployment: Deployment, report: Report, chance: Chance) => Promise<void>

const usage = `npm run test:faults [-- --only ${"take-over,kill,…"}] [--full] [--without ${Object.keys(mutations).join("|")}]; SEED=… repeats its choices`
const given = parseArgs({
  options: { only: { type: "string" }, full: { type: "boolean", default: false }, without: { type: "string" } },
  strict: true,
}).values
const seed = Number(process.env["SEED"] || randomInt(1_000_000))

/** The size of a campaign: by default such that all of them together take ten minutes, with `--full` as large as was promised. */
const sized = <Size>(usual: Size, full: Size): Size => (given.full ? full : usual)

/** Each point of the turn some times, in an order by chance. */
const strikes = chanceOf(seed, "strikes").shuffled(Array.from({ length: sized(2, 5) }, () => points).flat())
const kills =
  (lane: string, instances: number, struck: Point[], patienceMs = 60_000): Campaign =>
  (deployment, report, chance) =>
    killCampaign(deployment, report, chance, { lane, instances, points: struck, patienceMs })

const outboundSize = {
  ...sized(
    { written: 24, messagesOfEach: 8, asked: 16, questionsOfEach: 4, takenOver: 8, kills: 2 },
    { written: 60, messagesOfEach: 14, asked: 40, questionsOfEach: 7, takenOver: 20, kills: 5 },
  ),
  patienceMs: 180_000,
}

const smallOutbound = {
  written: 10,
  messagesOfEach: 4,
  asked: 12,
  questionsOfEach: 4,
  takenOver: 12,
  atClaims: true,
  kills: 0,
  patienceMs: 60_000,
}

const someEvents = { subscribers: 10, ...sized({ messages: 1_500, cuts: 40, kills: 2 }, { messages: 5_000, cuts: 100, kills: 3 }) }
const clockSize = sized({ customers: 200, pauseMs: 50, debounceMs: 20_000 }, { customers: 500, pauseMs: 50, debounceMs: 40_000 })
const rollingSize = {
  requestsPerSecond: 100,
  ...sized(
    { visitors: 160, subscribers: { graphqlWs: 25, socketIo: 15 } },
    { visitors: 440, subscribers: { graphqlWs: 40, socketIo: 20 } },
  ),
  rounds: 2,
}
const toolSize = { kills: sized(6, 15), customers: 3 }

const someCalls = { calls: 40, lines: 6, kills: 4, waitMs: 30_000, patienceMs: 90_000 }
/** With lines for a part of the calls only, so that the wait of the others runs out. */
const manyCalls = { calls: 200, lines: 5, kills: 24, everyMs: 10_000, waitMs: 120_000, patienceMs: 120_000 }

/** Groups run one after the other, the campaigns of a group at once, each on a database of its own. */
const sound: Record<string, Record<string, Campaign>> = {
  "take-over": { "take-overs during slow answers": (...args) => takeOverCampaign(...args, 50) },
  kill: {
    "kill -9, first half": kills("first", 1, strikes.slice(0, strikes.length / 2)),
    "kill -9, second half": kills("second", 1, strikes.slice(strikes.length / 2)),
  },
  "kill-one-of-two": {
    "kill -9 of one of two instances": kills("pair", 2, [...points]),
    "a worker that stands still": (...args) => freezeCampaign(...args, 4),
  },
  clock: {
    "an instance is killed with hundreds of due times": (...args) => clockCampaign(...args, clockSize),
  },
  tools: {
    "kill -9 during turns with a tool, first half": (...args) => toolCampaign(...args, { lane: "first", ...toolSize }),
    "kill -9 during turns with a tool, second half": (...args) => toolCampaign(...args, { lane: "second", ...toolSize }),
  },
  resume: { "subscribers that are cut": (...args) => resumeCampaign(...args, { messages: 500, cuts: 20 }) },
  events: {
    "events for 10 subscribers while an instance is killed": (...args) => eventsCampaign(...args, { ...someEvents, redisStoppedMs: null }),
  },
  ...(hasRedis && {
    "events-redis-lost": {
      "the same with Redis, which is stopped in the middle": (...args) =>
        eventsCampaign(...args, { ...someEvents, redisStoppedMs: sized(6_000, 20_000) }),
    },
  }),
  knowledge: {
    "knowledge that is indexed while its worker is killed": (...args) =>
      knowledgeCampaign(...args, {
        ...sized({ good: 120, poisonedOfEach: 2, kills: 5 }, { good: 280, poisonedOfEach: 4, kills: 10 }),
        patienceMs: 60_000,
      }),
  },
  inbound: {
    "updates that are sent three times while the server is killed": (...args) =>
      inboundCampaign(...args, {
        ...sized({ customers: 80, updatesOfEach: 6, kills: 3 }, { customers: 200, updatesOfEach: 10, kills: 5 }),
        patienceMs: 90_000,
      }),
  },
  outbound: {
    "messages that vendors refuse while the server is killed": (...args) => outboundCampaign(...args, outboundSize),
  },
  "outbound-take-over": {
    "take-overs between the beginning of a delivery and its request": (...args) => outboundCampaign(...args, smallOutbound),
  },
  calls: {
    "calls on few lines while the server is killed around their dials": (...args) =>
      callCampaign(...args, sized<CallSize>(someCalls, manyCalls)),
  },
  write: { "messages while instances are killed": (...args) => writeCampaign(...args, 200) },
  "event-webhooks": {
    "kill -9 during deliveries of events": (...args) => deliveriesCampaign(...args, { endpoints: 6, kills: sized(10, 30) }),
  },
  "slow-endpoints": {
    "endpoints that never answer beside others": (...args) =>
      slowEndpointsCampaign(...args, { companies: 4, endpointsOfEach: 50, hangingOfEach: 5, eventsOfEach: sized(4, 20) }),
  },
  ...(hasNginx && {
    "rolling-restart": {
      "two instances behind nginx are restarted one after the other": (...args) => rollingRestartCampaign(...args, rollingSize),
    },
  }),
  away: {
    "PostgreSQL is stopped under load": (...args) =>
      awayCampaign(...args, { ...sized({ seconds: [3, 10], between: 200 }, { seconds: [3, 30, 120], between: 400 }), customers: 40 }),
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
  "repeat-check": {
    campaign: (...args) => inboundCampaign(...args, { customers: 20, updatesOfEach: 4, kills: 0, patienceMs: 10_000 }),
    notices: storedOnce,
  },
  "sending-mark": { campaign: (...args) => outboundCampaign(...args, smallOutbound), notices: marked },
  withdrawal: { campaign: (...args) => outboundCampaign(...args, smallOutbound), notices: nothingAfterwards },
  "dial-intent": {
    campaign: (...args) => callCampaign(...args, { ...someCalls, calls: 8, kills: 4, patienceMs: 20_000 }),
    notices: dialedOnce,
  },
  frames: { campaign: (...args) => toolCampaign(...args, { lane: "frames", kills: 5, customers: 4 }), notices: framesInPairs },
}

/** Runs a campaign on a new deployment; one that throws has failed. */
async function run(testBed: TestBed, title: string, campaign: Campaign, without?: MutationName): Promise<Report> {
  const report = new Report(title)
  const begin = performance.now()
  const deployment = await testBed.deployment(without)
  try {
    await campaign(deployment, report, chanceOf(seed, title))
  } catch (error) {
    report.check("the campaign ran to its end", [(error as Error).stack ?? String(error)])
  } finally {
    await deployment.close()
  }
  report.note(`took ${Math.round((performance.now() - begin) / 1_000)} s`)
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

/** With more of them a busy machine answers requests too late, and a campaign ends before it has shown anything. */
const mutantsAtOnce = 3

/** A mutant has to fail, and by the check that is about what was taken out. */
async function runMutants(testBed: TestBed, names: MutationName[]): Promise<boolean[]> {
  const waiting = [...names]
  const results: boolean[] = []
  const lane = async () => {
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      const { campaign, notices } = mutants[name]
      const report = await run(testBed, `the server without its ${name}`, campaign, name)
      report.print()
      const noticed = report.failed.some(({ check }) => check === notices)
      say(noticed ? `ok   without the ${name} it is noticed: ${notices}` : `FAIL without the ${name} nobody notices: ${notices}`)
      results.push(noticed)
    }
  }
  await Promise.all(Array.from({ length: mutantsAtOnce }, lane))
  return results
}

async function runMutantAlone(testBed: TestBed, name: MutationName): Promise<boolean[]> {
  const report = await run(testBed, `the server without its ${name}`, mutants[name].campaign, name)
  report.print()
  return report.findings.map(({ faults }) => faults.length === 0)
}

async function runAll(testBed: TestBed): Promise<boolean[]> {
  // Asked for alone, a mutant is judged like the sound server: it fails.
  if (without) return runMutantAlone(testBed, without)
  const results = await runSound(testBed, names)
  return given.only ? results : [...results, ...(await runMutants(testBed, Object.keys(mutants) as MutationName[]))]
}

const without = given.without as MutationName | undefined
/** Campaigns that need a program of the machine, which is missing. */
const skipped = [...(hasRedis ? [] : ["events-redis-lost (no Redis)"]), ...(hasNginx ? [] : ["rolling-restart (no nginx)"])]
const names = given.only?.split(",") ?? Object.keys(sound)
if ((without && !Object.hasOwn(mutations, without)) || names.some((name) => !Object.hasOwn(sound, name))) {
  say(usage)
  process.exit(2)
}
for (const each of skipped) say(`skipped: ${each}`)
await runCampaigns(seed, openTestBed, runAll)
