import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex } = w
const rest = bothProtocols(w)

/** Calls of Acme, the oldest first: by name, their IDs. */
const calls: Record<string, string> = {}
let other: { id: string }

beforeAll(async () => {
  other = await acme.makeAssistant({ name: "Other" })
  const day = (date: string) => new Date(`${date}T12:00:00Z`)
  const make = async (name: string, fields: Record<string, unknown>) => Object.assign(calls, { [name]: (await acme.call(fields)).id })
  await make("busy", { callDate: day("2026-01-01"), status: "busy", endedReason: "busy", duration: null, phoneNumber: "+15550001111" })
  await make("short", { callDate: day("2026-01-02"), duration: 10, source: "dashboard", employeeName: "Ann_Lee 100%" })
  await make("long", { callDate: new Date("2026-01-03T23:59:59.999Z"), duration: 300, status: "transcribed", assistantId: other.id })
  await make("inbound", { callDate: day("2026-01-04"), duration: 60, source: "inbound", employeeName: "Bob" })
  await globex.call({ callDate: day("2026-01-05") })
})

const names = (body: { data: { id: string }[] }) =>
  body.data.map(({ id }) => Object.entries(calls).find(([, known]) => known === id)?.[0] ?? "foreign")
const list = async (query = "") => names((await rest.as(acme.token).get(`/api/calls-history?${query}`).expect(200)).body)
const filter = (text: string) => list(`filter=${encodeURIComponent(text)}`)

promised("the list is newest first, with its total, and holds no call of another company", async () => {
  const { body } = await rest.as(acme.token).get("/api/calls-history?take=3").expect(200)
  expect(names(body)).toEqual(["inbound", "long", "short"])
  expect(body).toMatchObject({ totalCount: 4, nextCursor: null })
  expect(body.data[0]).not.toHaveProperty("replies")
  expect(await list("skip=3")).toEqual(["busy"])
})

it.each([
  ["status:eq:busy", ["busy"]],
  ["status:in:busy,transcribed", ["long", "busy"]],
  ["source:eq:dashboard", ["short"]],
  ["source:in:dashboard,inbound", ["inbound", "short"]],
  ["source:nin:dashboard,inbound", ["long", "busy"]],
  ["callDate:gte:2026-01-03", ["inbound", "long"]],
  ["callDate:lte:2026-01-03", ["long", "short", "busy"]],
  ["callDate:between:2026-01-02,2026-01-03", ["long", "short"]],
  ["duration:gte:60", ["inbound", "long"]],
  ["duration:lte:60", ["inbound", "short"]],
  ["duration:between:10,60", ["inbound", "short"]],
  ["duration:gte:60;status:eq:transcribed", ["long"]],
])("filter=%s", async (text, expected) => expect(await filter(text)).toEqual(expected))

it("filters by assistant, as a condition and as a parameter", async () => {
  expect(await filter(`assistantId:eq:${other.id}`)).toEqual(["long"])
  expect(await filter(`assistantId:in:${other.id},${acme.assistant.id}`)).toHaveLength(4)
  expect(await list(`assistantId=${other.id}`)).toEqual(["long"])
  expect(await list(`assistantId=${globex.assistant.id}`)).toEqual([])
})

it.each([
  ["phone=%2B1%20(555)%20000-1111", ["busy"]],
  ["phone=%2B15550001112", []],
  ["search=5550001", ["busy"]],
  ["search=ann_lee", ["short"]],
  ["search=100%25", ["short"]],
  ["search=BOB", ["inbound"]],
  ["search=", ["inbound", "long", "short", "busy"]],
  ["sortOrder=ASC", ["busy", "short", "long", "inbound"]],
  ["sortBy=callDate&sortOrder=DESC", ["inbound", "long", "short", "busy"]],
  ["sortBy=duration", ["long", "inbound", "short", "busy"]],
  ["sortBy=duration&sortOrder=ASC", ["short", "inbound", "long", "busy"]],
])("%s", async (query, expected) => expect(await list(query)).toEqual(expected))

it.each([
  ["filter=status:nin:busy", "filter"],
  ["filter=status:eq:gone", "filter"],
  ["filter=duration:eq:1", "filter"],
  ["filter=duration:gte:-1", "filter"],
  ["filter=duration:gte:1e2", "filter"],
  ["filter=duration:between:2,1", "filter"],
  ["filter=duration:between:1", "filter"],
  ["filter=callDate:gte:2026-02-30", "filter"],
  ["filter=callDate:eq:2026-02-01", "filter"],
  ["filter=source:like:api", "filter"],
  ["filter=assistantId:eq:me", "filter"],
  ["filter=phoneNumber:eq:1", "filter"],
  ["filter=status:eq:busy;", "filter"],
  ["phone=12", "phone"],
  ["assistantId=me", "assistantId"],
  ["sortBy=phone", "sortBy"],
  ["sortOrder=up", "sortOrder"],
  ["take=101", "take"],
  ["take=0", "take"],
  ["skip=-1", "skip"],
])("%s is refused", async (query, path) => {
  const { body } = await w.rest.as(acme.token).get(`/api/calls-history?${query}`).expect(400)
  expect(body.details.map((detail: { path: string }) => detail.path)).toContain(path)
})

it("a company out of reach is forbidden", () => rest.as(acme.token).get(`/api/calls-history?companyId=${globex.id}`).expect(403))

it("GraphQL takes the same conditions as a typed where", async () => {
  const query = "query ($where: CallWhere) { calls(where: $where) { nodes { id } totalCount } }"
  const found = async (where: object) => names({ data: (await w.gql(acme.token, query, { where })).data.calls.nodes })
  expect(await found({ status: { in: ["BUSY"] }, source: { nin: ["INBOUND"] } })).toEqual(["busy"])
  expect(await found({ source: { nin: [] } })).toHaveLength(4)
  expect(await found({ status: { in: [] } })).toEqual([])
  expect(await found({ duration: { between: [10, 60] }, callDate: { gte: "2026-01-03" } })).toEqual(["inbound"])
})
