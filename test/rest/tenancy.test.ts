import type { Route } from "../../src/rest/kit/routes.js"
import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { addressOf, type Belongings, belongings, credentialFor, everyRoute, isPublic, queryFor } from "../kit/routes.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex } = w
const both = bothProtocols(w)
let own: Belongings
let foreign: Belongings

beforeAll(async () => {
  own = await belongings(acme)
  foreign = await belongings(globex)
})

/** Narrower forms of the lists, which are read by other statements: what each finds has rows of both companies. */
const narrowed: Record<string, string[]> = {
  "GET /api/chats": [
    "unread=false",
    "isUnderAiControl=true",
    "filter=chatType:eq:private",
    "filter=createdAt:gte:2020-01-01",
    "skip=0",
    "sortBy=createdAt",
  ],
  "GET /api/assistants-new": ["q=a", "includeVariants=true"],
  "GET /api/assistant-tools-new": ["search=t", "skip=0"],
  "GET /api/assistant-knowledge-new": ["search=e", "skip=0"],
  "GET /api/calls-history": ["search=0", "sortBy=duration", "filter=duration:gte:0"],
}

const reads = everyRoute
  .filter(([, route]) => route.method === "GET" && !isPublic(route))
  .flatMap(([name, route]) => ["", ...(narrowed[name] ?? [])].map((query) => [`${name} ${query}`.trim(), route, query] as const))

const pages = /chats$|assistants-new$|tools-new$|knowledge-new$|calls-history$/

promised.each(reads)("%s shows and counts nothing of another company", async (_name: string, route: Route, query: string) => {
  const given = queryFor(route, own) || "?"
  const paged = pages.test(route.path) ? "take=100" : ""
  const address = `${addressOf(route, own)}${given}${[given === "?" ? "" : "", query, paged].filter(Boolean).join("&")}`
  const { body } = await both.as(credentialFor(route, acme)).get(address.replace(/\?$/, "")).expect(200)
  const text = JSON.stringify(body)
  const ids = [globex.id, ...Object.values(foreign).filter((id): id is string => /^[0-9a-f-]{36}$/.test(String(id)))]
  expect(ids.filter((id) => text.includes(id))).toEqual([])
  if (!paged) return
  expect([address, body.totalCount]).toEqual([address, body.data.length])
  // Otherwise this read would show nothing in any case.
  expect(body.data).not.toEqual([])
})
