import type { Workload } from "./options.js"
import { limitRequests } from "./requests-limit.js"
import { ourRequests, ourRequestsAsRest, ourRestRequests } from "./requests-ours.js"
import { postgraphileRequests } from "./requests-postgraphile.js"

/**
 * What is measured. The first three are one server, ours: an operation with only the needed fields, the operation of the REST route over GraphQL,
 * and the REST route. The second one is for comparing the two protocols.
 */
const ours = ["ours", "ours, REST's fields", "ours, REST"] as const
const others = ["LIMIT-rows", "LIMIT", "PostGraphile"] as const
const earlier = ["before", "before, REST"] as const

/** What is asked in a way of its own: an earlier version of ours is asked like ours. */
export type Interface = (typeof ours | typeof others)[number]
export type Contestant = Interface | (typeof earlier)[number]

/** The directory of an earlier version of this repository, installed and built, which is measured too; null without `BENCH_BEFORE`. */
export const earlierVersion = process.env["BENCH_BEFORE"] ?? null
export const contestants: readonly Contestant[] = earlierVersion ? [...ours, ...earlier, ...others] : [...ours, ...others]

/** How a contestant is asked and how it answers. */
export const interfaceOf = (contestant: Contestant) => contestant.replace(/^before/, "ours") as Interface

/** One HTTP request, as the load generator takes it. */
export interface Request {
  method: "GET" | "POST"
  path: string
  headers: Record<string, string>
  body?: string
}

/** The values in a request. */
export interface RequestParameters {
  token: string
  companyId: string
  chatId: string
  text: string
  /** The filter of W3, besides unread. */
  messenger: string
  tagIds: string[]
  /** The search term of W4. */
  term: string
  /** The contestant's cursor of the page; null for the first page. */
  cursor: string | null
  /** Number of rows; the workload's own when absent. Only our server supports another one. */
  size?: number
}

/** A contestant's requests, by workload. */
export type RequestBuilders = Record<Workload, (parameters: RequestParameters) => Request>

const requestBuilders: Record<Interface, RequestBuilders> = {
  ours: ourRequests,
  "ours, REST's fields": ourRequestsAsRest,
  "ours, REST": ourRestRequests,
  "LIMIT-rows": limitRequests,
  LIMIT: limitRequests,
  PostGraphile: postgraphileRequests,
}

/** A contestant's request for a workload. */
export const requestFor = (contestant: Contestant, workload: Workload, parameters: RequestParameters) =>
  requestBuilders[interfaceOf(contestant)][workload](parameters)

/** Number of rows of a page. */
export const pageSize = (workload: Workload) => (workload === "W2" ? 30 : 50)
