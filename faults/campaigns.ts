import { hasNginx } from "../test/kit/nginx.js"
import { awayCampaign } from "./away.js"
import { type CallSize, callCampaign } from "./calls.js"
import { clockCampaign } from "./clock.js"
import { deliveriesCampaign } from "./event-webhooks.js"
import { eventsCampaign } from "./events.js"
import { freezeCampaign } from "./freeze.js"
import { inboundCampaign } from "./inbound.js"
import { points } from "./kill.js"
import { chanceOf } from "./kit/chance.js"
import { hasRedis } from "./kit/redis.js"
import { knowledgeCampaign } from "./knowledge.js"
import { outboundCampaign } from "./outbound.js"
import { resumeCampaign } from "./resume.js"
import { rollingRestartCampaign } from "./rolling-restart.js"
import { type Campaign, kills, smallOutbound, someCalls } from "./sizes.js"
import { slowEndpointsCampaign } from "./slow-endpoints.js"
import { takeOverCampaign } from "./take-over.js"
import { mcpToolCampaign, toolCampaign } from "./tools.js"
import { writeCampaign } from "./write.js"

/** Campaigns that are chosen by one name. */
export interface Group {
  campaigns: Record<string, Campaign>
  /** Begins when the others are over: `paced` beside one other of them, since it measures or uses the whole machine; `alone`, since it stops PostgreSQL. */
  last?: "paced" | "alone"
  /** What the machine lacks for it; null when nothing. */
  lacks?: string | null
}

/** With lines for a part of the calls only, so that the wait of the others runs out. */
const manyCalls = { calls: 200, lines: 5, kills: 24, everyMs: 10_000, waitMs: 120_000, patienceMs: 120_000 }

const largeOutbound = { written: 60, messagesOfEach: 14, asked: 40, questionsOfEach: 7, takenOver: 20, kills: 5, patienceMs: 180_000 }
const usualOutbound = { written: 24, messagesOfEach: 8, asked: 16, questionsOfEach: 4, takenOver: 8, kills: 2, patienceMs: 180_000 }

/** The campaigns by the name that chooses them, longer ones first; by default such that all take a few minutes, with `isFull` as large as promised. */
export function campaigns(seed: number, isFull: boolean): Record<string, Group> {
  const sized = <Size>(usual: Size, full: Size): Size => (isFull ? full : usual)
  /** Each point of the turn some times, in an order by chance. */
  const strikes = chanceOf(seed, "strikes").shuffled(Array.from({ length: sized(2, 5) }, () => points).flat())
  const toolSize = { kills: sized(6, 15), customers: 3 }
  const someEvents = { subscribers: 10, ...sized({ messages: 1_500, cuts: 40, kills: 2 }, { messages: 5_000, cuts: 100, kills: 3 }) }
  return {
    outbound: {
      campaigns: {
        "messages that vendors refuse while the server is killed": (...args) =>
          outboundCampaign(...args, sized(usualOutbound, largeOutbound)),
      },
    },
    calls: {
      campaigns: {
        "calls on few lines while the server is killed around their dials": (...args) =>
          callCampaign(...args, sized<CallSize>(someCalls, manyCalls)),
      },
    },
    "event-webhooks": {
      campaigns: {
        "kill -9 during deliveries of events": (...args) => deliveriesCampaign(...args, { endpoints: 6, kills: sized(10, 30) }),
      },
    },
    kill: {
      campaigns: {
        "kill -9, first half": kills("first", 1, strikes.slice(0, strikes.length / 2)),
        "kill -9, second half": kills("second", 1, strikes.slice(strikes.length / 2)),
      },
    },
    inbound: {
      campaigns: {
        "updates that are sent three times while the server is killed": (...args) =>
          inboundCampaign(...args, {
            ...sized({ customers: 80, updatesOfEach: 6, kills: 3 }, { customers: 200, updatesOfEach: 10, kills: 5 }),
            patienceMs: 90_000,
          }),
      },
    },
    tools: {
      campaigns: {
        "kill -9 during turns with a tool, first half": (...args) => toolCampaign(...args, { lane: "first", ...toolSize }),
        "kill -9 during turns with a tool, second half": (...args) => toolCampaign(...args, { lane: "second", ...toolSize }),
        "kill -9 during turns with a tool of an MCP server that cuts connections and vanishes": (...args) =>
          mcpToolCampaign(...args, { lane: "mcp", ...toolSize }),
      },
    },
    "kill-one-of-two": {
      campaigns: {
        "kill -9 of one of two instances": kills("pair", 2, [...points]),
        "a worker that stands still": (...args) => freezeCampaign(...args, 4),
      },
    },
    knowledge: {
      campaigns: {
        "knowledge that is indexed while its worker is killed": (...args) =>
          knowledgeCampaign(...args, {
            ...sized({ good: 120, poisonedOfEach: 2, kills: 5 }, { good: 280, poisonedOfEach: 4, kills: 10 }),
            patienceMs: 60_000,
          }),
      },
    },
    "events-redis-lost": {
      lacks: hasRedis ? null : "no Redis",
      campaigns: {
        "events while Redis is stopped in the middle": (...args) =>
          eventsCampaign(...args, { ...someEvents, redisStoppedMs: sized(6_000, 20_000) }),
      },
    },
    events: {
      campaigns: {
        "events for 10 subscribers while an instance is killed": (...args) =>
          eventsCampaign(...args, { ...someEvents, redisStoppedMs: null }),
      },
    },
    "outbound-take-over": {
      campaigns: {
        "take-overs between the beginning of a delivery and its request": (...args) => outboundCampaign(...args, smallOutbound),
      },
    },
    "take-over": { campaigns: { "take-overs during slow answers": (...args) => takeOverCampaign(...args, 50) } },
    write: { campaigns: { "messages while instances are killed": (...args) => writeCampaign(...args, 200) } },
    resume: { campaigns: { "subscribers that are cut": (...args) => resumeCampaign(...args, { messages: 500, cuts: 20 }) } },
    "rolling-restart": {
      last: "paced",
      lacks: hasNginx ? null : "no nginx",
      campaigns: {
        "two instances behind nginx are restarted one after the other": (...args) =>
          rollingRestartCampaign(...args, {
            requestsPerSecond: 100,
            ...sized(
              { visitors: 160, subscribers: { graphqlWs: 25, socketIo: 15 } },
              { visitors: 440, subscribers: { graphqlWs: 40, socketIo: 20 } },
            ),
            rounds: 2,
          }),
      },
    },
    clock: {
      last: "paced",
      campaigns: {
        "an instance is killed with hundreds of due times": (...args) =>
          clockCampaign(...args, sized({ customers: 200, debounceMs: 10_000 }, { customers: 500, debounceMs: 40_000 })),
      },
    },
    "slow-endpoints": {
      last: "paced",
      campaigns: {
        "endpoints that never answer beside others": (...args) =>
          slowEndpointsCampaign(...args, { companies: 4, endpointsOfEach: 50, hangingOfEach: 5, eventsOfEach: sized(4, 20) }),
      },
    },
    away: {
      last: "alone",
      campaigns: {
        "PostgreSQL is stopped under load": (...args) =>
          awayCampaign(...args, { ...sized({ seconds: [3, 10], between: 200 }, { seconds: [3, 30, 120], between: 400 }), customers: 40 }),
      },
    },
  }
}
