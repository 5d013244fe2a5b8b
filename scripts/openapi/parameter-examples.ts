import type { JsonSchema } from "../../src/rest/kit/json-schema.js"

/** Texts of parameters that the recorded requests do not send, by their names. */
const byName: Record<string, unknown> = {
  take: 20,
  skip: 20,
  cursor: "MjAyNi0wMS0zMFQwOToxNTowMC4wMDBa",
  q: "returns",
  search: "Olena",
  sourceChannel: "prom",
  fromId: "demo-site",
  managerId: "me",
  phone: "+380441234567",
  from: "2026-01-19T00:00:00.000Z",
  to: "2026-01-26T00:00:00.000Z",
  "Idempotency-Key": "delivery-of-4711",
}

/** Texts that have a grammar of their own on each route. */
const byRoute: Record<string, Record<string, string>> = {
  "GET /api/chats": { filter: "isUnderAiControl:eq:false;unread:eq:true" },
  "GET /api/calls-history": { filter: "status:in:no_answer,busy;duration:gte:60" },
  "GET /api/guardrail-hits": { filter: "rule:eq:card" },
  "GET /api/stretches": { filter: "messenger:eq:widget" },
  "GET /api/outcomes": { filter: "messenger:eq:widget" },
}

/** An example of a parameter: what was sent, as its type says, or a text that its route takes. */
export function parameterExample(route: string, name: string, schema: JsonSchema, sent: string | undefined): unknown {
  const { type, format, enum: words } = schema
  const known = byRoute[route]?.[name] ?? byName[name]
  if (sent !== undefined) return type === "integer" ? Number(sent) : type === "boolean" ? sent === "true" : sent
  if (Array.isArray(words)) return words[0]
  if (type === "boolean") return true
  if (known !== undefined) return known
  if (format === "uuid") return "0197a3c0-8f00-7000-8000-000000000001"
  throw new Error(`scripts/openapi/parameter-examples.ts has no example of ${name}, a parameter of ${route}`)
}
