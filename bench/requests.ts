import { asksLimit } from "./asks-limit.js"
import { asksOurs, asksOursAsRest, asksOursOverRest } from "./asks-ours.js"
import { asksPostgraphile } from "./asks-postgraphile.js"
import type { Workload } from "./options.js"

/**
 * Who is measured. The three doors of ours are one server: a GraphQL client's own choice of fields, the operation of the REST route over
 * GraphQL, and the REST route. The middle one is there for the comparison of the two protocols.
 */
export const contestants = ["ours", "ours, REST's fields", "ours, REST", "LIMIT-rows", "LIMIT", "PostGraphile"] as const
export type Contestant = (typeof contestants)[number]

/** One HTTP request, as the load generator takes it. */
export interface Request {
  method: "GET" | "POST"
  path: string
  headers: Record<string, string>
  body?: string
}

/** What requests are made of. */
export interface Matter {
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
export type Asks = Record<Workload, (matter: Matter) => Request>

const asks: Record<Contestant, Asks> = {
  ours: asksOurs,
  "ours, REST's fields": asksOursAsRest,
  "ours, REST": asksOursOverRest,
  "LIMIT-rows": asksLimit,
  LIMIT: asksLimit,
  PostGraphile: asksPostgraphile,
}

/** A contestant's request for a workload. */
export const requestFor = (contestant: Contestant, workload: Workload, matter: Matter) => asks[contestant][workload](matter)

/** How many rows a page has. */
export const pageSize = (workload: Workload) => (workload === "W2" ? 30 : 50)
