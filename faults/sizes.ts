import type { Report } from "../test/kit/campaign/report.js"
import { killCampaign, type Point } from "./kill.js"
import type { Chance } from "./kit/chance.js"
import type { Deployment } from "./kit/test-bed.js"

/** A campaign against the servers of a deployment of its own. */
export type Campaign = (deployment: Deployment, report: Report, chance: Chance) => Promise<void>

/** Kills of the servers at some points of a turn. */
export const kills =
  (lane: string, instances: number, struck: Point[], patienceMs = 60_000): Campaign =>
  (deployment, report, chance) =>
    killCampaign(deployment, report, chance, { lane, instances, points: struck, patienceMs })

/** A small campaign of deliveries, in which chats are taken over between the beginning of a delivery and its request. */
export const smallOutbound = {
  written: 10,
  messagesOfEach: 4,
  asked: 12,
  questionsOfEach: 4,
  takenOver: 12,
  atClaims: true,
  kills: 0,
  patienceMs: 60_000,
}

export const someCalls = { calls: 40, lines: 6, kills: 4, waitMs: 30_000, patienceMs: 90_000 }
