import { readFileSync } from "node:fs"
import fc, { type Arbitrary } from "fast-check"
import { buildSchema } from "graphql"
import type { Generated } from "./generated.js"
import { rootFields } from "./graphql-operations.js"
import { documentRequests, fieldRequests } from "./graphql-requests.js"
import { hookRequests, vendorRequests } from "./hook-requests.js"
import { keyOfTool, type ListedTool, messageRequests, toolRequests } from "./mcp-requests.js"
import { signingMessengers } from "./messengers.js"
import { mediaRequests, pathRequests } from "./other-requests.js"
import { rawRequests } from "./raw-requests.js"
import { restRoutes } from "./rest-requests.js"
import { socketIoSessions } from "./socket-io-sessions.js"
import { socketSessions } from "./socket-sessions.js"
import { uploadRequests } from "./uploads.js"
import { voiceHooks, voiceRequests } from "./voice-requests.js"

/** What a campaign sends, and what of it must be reached. */
export interface Requests {
  arbitrary: Arbitrary<Generated>
  /** Every root field, every route, every tool and every hook; each has to be run at least once. */
  keys: string[]
}

/** All requests: those of every root field, route and tool, and noise on every transport. */
export function allRequests(tools: ListedTool[]): Requests {
  const fields = rootFields(buildSchema(readFileSync("schema.graphql", "utf8")))
  const routes = restRoutes(JSON.parse(readFileSync("openapi.json", "utf8")))
  // It would end the session of a credential that others use; over HTTP it has credentials of its own.
  const onSockets = fields.filter(({ key }) => key !== "Mutation.signOut")
  const overHttp = fields.filter(({ key }) => key !== "Mutation.uploadMedia")
  const arbitrary = fc.oneof(
    { arbitrary: fc.oneof(...overHttp.map(fieldRequests)), weight: 30 },
    { arbitrary: fc.oneof(...routes.map(({ requests }) => requests)), weight: 30 },
    { arbitrary: fc.oneof(...tools.map(toolRequests)), weight: 8 },
    { arbitrary: messageRequests, weight: 2 },
    { arbitrary: documentRequests, weight: 6 },
    { arbitrary: hookRequests, weight: 5 },
    { arbitrary: vendorRequests, weight: 5 },
    { arbitrary: voiceRequests, weight: 5 },
    { arbitrary: uploadRequests, weight: 4 },
    { arbitrary: mediaRequests, weight: 4 },
    { arbitrary: pathRequests, weight: 5 },
    // Groups of about seven requests each.
    { arbitrary: rawRequests, weight: 1 },
    { arbitrary: socketSessions(onSockets), weight: 2 },
    { arbitrary: socketIoSessions, weight: 2 },
  )
  return {
    arbitrary,
    keys: [
      ...[...fields, ...routes].map(({ key }) => key),
      ...tools.map(keyOfTool),
      "REST POST /api/media/upload",
      ...["widget", ...signingMessengers].map((messenger) => `Hook ${messenger}`),
      ...voiceHooks,
    ],
  }
}

/** Endless requests by their seed. */
export function* generate(arbitrary: Arbitrary<Generated>, seed: number): Generator<Generated> {
  for (let batch = 0; ; batch += 1) yield* fc.sample(arbitrary, { seed: (seed + batch * 7_919) | 0, numRuns: 250 })
}
