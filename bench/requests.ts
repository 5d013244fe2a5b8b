import type { Workload } from "./options.js"
import { limitRequests } from "./requests-limit.js"
import { ourRequests, ourRequestsAsRest, ourRestRequests } from "./requests-ours.js"
import { postgraphileRequests } from "./requests-postgraphile.js"

/**
 * Who is measured. The three doors of ours are one server: a GraphQL client's own choice of fields, the operation of the REST route over
 * GraphQL, and the REST route. The middle one is there for the comparison of the two protocols.
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

/** What requests are made of. */
export interface RequestParameters {
  token: string
  companyId: string
  chatId: string
  text: string
  /** What W3 filters by, besides unread. */
  messenger: string
  tagIds: string[]
  /** What W4 searches for. */
  term: string
  /** Where the page begins, in the contestant's own words; the first page when null. */
  cursor: string | null
  /** How many rows; the workload's own number when absent. Only ours can be asked for another one. */
  size?: number
}

/** How a contestant is asked, by workload. */
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

/** How many rows a page has. */
export const pageSize = (workload: Workload) => (workload === "W2" ? 30 : 50)
