import { sourcesIn } from "../test/kit/campaign/seals.js"
import { callCampaign, dialedOnce } from "./calls.js"
import { inboundCampaign, storedOnce } from "./inbound.js"
import { answeredOnce } from "./kill.js"
import { type MutationName, mutations, repository } from "./kit/builds.js"
import { marked, nothingAfterwards } from "./kit/outbound-findings.js"
import { comesToAnEnd, knowledgeCampaign } from "./knowledge.js"
import { outboundCampaign } from "./outbound.js"
import { type Campaign, kills, smallOutbound, someCalls } from "./sizes.js"
import { nothingAfter, takeOverCampaign } from "./take-over.js"
import { calledOnce, framesInPairs, mcpToolCampaign, toolCampaign } from "./tools.js"

/** A campaign that has to notice that something was taken out. */
export interface Mutant {
  campaign: Campaign
  /** File of the campaign in this folder. */
  file: string
  /** The promise that has to fail. */
  notices: string
}

/** The campaign of each mutation. */
export const mutants: Record<MutationName, Mutant> = {
  fence: { campaign: (...args) => takeOverCampaign(...args, 16), file: "take-over.ts", notices: nothingAfter },
  "statement-fence": { campaign: (...args) => takeOverCampaign(...args, 16), file: "take-over.ts", notices: nothingAfter },
  "indexing-lease": {
    campaign: (...args) => knowledgeCampaign(...args, { good: 40, poisonedOfEach: 1, kills: 5, patienceMs: 30_000 }),
    file: "knowledge.ts",
    notices: comesToAnEnd,
  },
  lease: { campaign: kills("lease", 1, ["in the model", "before due", "in the model"], 30_000), file: "kill.ts", notices: answeredOnce },
  "repeat-check": {
    campaign: (...args) => inboundCampaign(...args, { customers: 20, updatesOfEach: 4, kills: 0, patienceMs: 10_000 }),
    file: "inbound.ts",
    notices: storedOnce,
  },
  "sending-mark": { campaign: (...args) => outboundCampaign(...args, smallOutbound), file: "outbound.ts", notices: marked },
  withdrawal: { campaign: (...args) => outboundCampaign(...args, smallOutbound), file: "outbound.ts", notices: nothingAfterwards },
  "dial-intent": {
    campaign: (...args) => callCampaign(...args, { ...someCalls, calls: 8, kills: 4, patienceMs: 20_000 }),
    file: "calls.ts",
    notices: dialedOnce,
  },
  frames: {
    campaign: (...args) => toolCampaign(...args, { lane: "frames", kills: 5, customers: 4 }),
    file: "tools.ts",
    notices: framesInPairs,
  },
  "mcp-call-once": {
    campaign: (...args) => mcpToolCampaign(...args, { lane: "mcp-call-once", kills: 4, customers: 4 }),
    file: "tools.ts",
    notices: calledOnce,
  },
}

/** The files that decide whether a mutant is noticed: the one that it changes, and its campaign with its kit. */
export function filesOf(name: MutationName): string[] {
  const changed = mutations[name].file.replace(/^dist\//, "").replace(/\.js$/, ".ts")
  const shared = ["faults/kit", "test/kit/campaign"].flatMap((folder) => sourcesIn(repository, folder))
  return [changed, `faults/${mutants[name].file}`, "faults/sizes.ts", "faults/mutants.ts", ...shared]
}
