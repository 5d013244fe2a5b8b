import fc from "fast-check"
import { v7 } from "uuid"
import { messengers } from "../../src/entities/channel.js"
import { BadUserInput } from "../../src/errors/errors.js"
import { chatFilterFields } from "../../src/schema/chat-filter.js"
import { type Condition, formatFilter, parseFilter, whereConditions } from "../../src/schema/kit/filter.js"
import { bothProtocols } from "../kit/both-protocols.js"
import { world } from "../kit/world.js"

const parse = (text: string) => parseFilter(chatFilterFields, text)

/** Any text as a value: with separators, escapes and colons. */
const anyText = fc.string({ minLength: 1, unit: "grapheme" }).filter((value) => !value.includes("\u0000"))
const anyDay = fc
  .date({ min: new Date("1990-01-01"), max: new Date("2090-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const anyCondition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    field: fc.constant("phoneNumber"),
    operator: fc.constantFrom("like" as const, "startsWith" as const),
    values: fc.tuple(anyText),
  }),
  fc.record({
    field: fc.constant("messenger"),
    operator: fc.constant("in" as const),
    values: fc.array(fc.constantFrom(...messengers), { minLength: 1 }),
  }),
  fc.record({ field: fc.constant("assistantId"), operator: fc.constant("eq" as const), values: fc.tuple(fc.uuid()) }),
  fc.record({ field: fc.constant("tagIds"), operator: fc.constant("in" as const), values: fc.array(fc.uuid(), { minLength: 1 }) }),
  fc.record({ field: fc.constant("unread"), operator: fc.constant("eq" as const), values: fc.tuple(fc.boolean()) }),
  fc.record({
    field: fc.constant("createdAt"),
    operator: fc.constant("between" as const),
    values: fc.tuple(anyDay, anyDay).map((days) => days.sort()),
  }),
)

describe("the filter grammar", () => {
  it("round-trips: formatted conditions are parsed into the same conditions", () => {
    fc.assert(
      fc.property(fc.array(anyCondition, { minLength: 1 }), (conditions) => expect(parse(formatFilter(conditions))).toEqual(conditions)),
      {
        numRuns: 500,
      },
    )
  })

  it("parses any text into conditions or into a bad input that names the part", () => {
    const alphabet = [
      ...";:,\\%_ me-0",
      "messenger",
      "eq",
      "in",
      "like",
      "phoneNumber",
      "createdAt",
      "between",
      "null",
      "2026-02-30",
      "__proto__",
      "constructor",
    ]
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...alphabet)).map((parts) => parts.join("")),
        (text) => {
          try {
            expect(parse(text)).not.toHaveLength(0)
          } catch (error) {
            expect(error).toBeInstanceOf(BadUserInput)
            expect((error as BadUserInput).details).toHaveLength(1)
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  it.each([
    ["nope:eq:1", "an unknown field"],
    ["__proto__:eq:1", "a prototype key"],
    ["messenger:like:tele", "an operator that the field does not have"],
    ["messenger:eq:fax", "a word that is none of the list"],
    ["assistantId:eq:123", "no UUID"],
    ["assistantId:eq:null", "a word that has no meaning for the field"],
    ["unread:eq:yes", "no boolean"],
    ["createdAt:gte:2026-02-30", "no day of the calendar"],
    ["createdAt:gte:2026-02-03T00:00:00Z", "a time where a day is meant"],
    ["createdAt:between:2026-02-03", "one value for between"],
    ["createdAt:between:2026-02-03,2026-02-01", "a reversed between"],
    ["messenger:eq:", "no value"],
    ["messenger:in:widget,", "an empty value in a list"],
    ["messenger:eq:widget;", "a trailing separator"],
    [";messenger:eq:widget", "an empty part"],
    ["messenger", "no condition"],
    ["phoneNumber:like:abc\\", "a dangling escape"],
    ["phoneNumber:like:a\\bc", "an escape without meaning"],
  ])("refuses %s: %s", (text) => {
    expect(() => parse(text)).toThrow(BadUserInput)
  })

  it("reads a typed where into the same conditions as the text", () => {
    const where = {
      messenger: { in: ["widget", "olx"] },
      unread: { eq: true },
      createdAt: { between: ["2026-01-01", "2026-01-31"] },
      folderId: null,
    }
    expect(whereConditions(chatFilterFields, where)).toEqual(
      parse("messenger:in:widget,olx;unread:eq:true;createdAt:between:2026-01-01,2026-01-31"),
    )
  })
})

describe("the list of chats over both protocols", () => {
  const w = world()
  const { acme } = w
  const rest = bothProtocols(w)
  const list = async (query: string, as = acme.token) => (await rest.as(as).get(`/api/chats?${query}`).expect(200)).body
  const names = async (query: string, as = acme.token) => (await list(query, as)).data.map((chat: { name: string }) => chat.name).sort()
  const filter = (text: string) => `filter=${encodeURIComponent(text)}`

  beforeAll(async () => {
    const folder = await acme.folder({ name: "VIP" })
    const make = (name: string, more: object = {}) => acme.chat({ name, messenger: "telegram", fromId: "shop", externalId: name, ...more })
    await make("Ada 100%", { phoneNumber: "+380501112233" })
    await make("Bob_b", { messenger: "olx", managerId: acme.member.id })
    await make("Zoë", { username: "ZOE_x", assistantId: acme.assistant.id })
    const filed = await make("Dan\\o", { accountName: "Big Shop", phoneNumber: "44+380501", sourceChannel: "prom" })
    await rest.as(acme.token).patch(`/api/chats/${filed.id}/folder`, { folderId: folder.id }).expect(200)
    await acme.message({ chatId: filed.id, text: "hi", role: "Customer" })
  })

  it("is filtered by every field", async () => {
    const today = new Date().toISOString().slice(0, 10)
    expect(await names(filter("messenger:eq:olx"))).toEqual(["Bob_b"])
    expect(await names(filter("messenger:in:olx,telegram;isUnderAiControl:eq:true"))).toEqual(["Zoë"])
    expect(await names(filter(`assistantId:in:${acme.assistant.id}`))).toEqual(["Zoë"])
    expect(await names(filter(`managerId:eq:${acme.member.id}`))).toEqual(["Bob_b"])
    expect(await names(filter("managerId:eq:me"), acme.member.jwt)).toEqual(["Bob_b"])
    expect(await names(filter("managerId:in:null,me"), acme.member.jwt)).toHaveLength(4)
    expect(await names(filter("unread:eq:true;folderId:eq:null"))).toEqual([])
    expect(await names(filter("unread:eq:true"))).toEqual(["Dan\\o"])
    expect(await names(filter("phoneNumber:startsWith:+38050"))).toEqual(["Ada 100%"])
    expect(await names(filter("phoneNumber:like:38050"))).toEqual(["Ada 100%", "Dan\\o"])
    expect(await names(filter("phoneNumber:like:%"))).toEqual([])
    expect(await names(filter(`lastMessageAt:gte:${today}`))).toEqual(["Dan\\o"])
    expect(await names(filter(`createdAt:between:${today},${today}`))).toHaveLength(4)
    expect(await names(filter("createdAt:lte:2020-01-01"))).toEqual([])
  })

  it("is searched by names, account, user name and phone, with literal % and _", async () => {
    expect(await names("search=zoË")).toEqual(["Zoë"])
    expect(await names("search=zoe_X")).toEqual(["Zoë"])
    expect(await names(`search=${encodeURIComponent("100%")}`)).toEqual(["Ada 100%"])
    expect(await names(`search=${encodeURIComponent("%")}`)).toEqual(["Ada 100%"])
    expect(await names("search=_")).toEqual(["Bob_b", "Zoë"])
    expect(await names(`search=${encodeURIComponent("\\")}`)).toEqual(["Dan\\o"])
    expect(await names("search=big+shop&sourceChannel=prom")).toEqual(["Dan\\o"])
    expect(await names("search=")).toHaveLength(4)
  })

  it("combines simple parameters with the filter, and refuses me under an access token", async () => {
    expect(await names(`messenger=telegram&unread=false&${filter("phoneNumber:like:1112")}`)).toEqual(["Ada 100%"])
    await rest.as(acme.token).get("/api/chats?managerId=me").expect(400)
    const { body } = await rest
      .as(acme.token)
      .get(`/api/chats?${filter("messenger:eq:fax")}`)
      .expect(400)
    expect(body.details[0].message).toContain("messenger:eq:fax")
  })

  it("takes 100 conditions and 1,000 values in each, and is 400 beyond", async () => {
    const ask = (variables: object) =>
      w.gql(acme.token, "query ($filter: String, $where: ChatWhere) { chats(filter: $filter, where: $where) { totalCount } }", {
        ...variables,
      })
    const ids = (count: number) => Array.from({ length: count }, () => v7())
    const widgets = (count: number) => `messenger:in:${Array.from({ length: count }, () => "widget").join(",")}`
    const conditions = (count: number, each: string) => Array.from({ length: count }, () => each).join(";")
    for (const allowed of [
      { filter: conditions(100, "unread:eq:true") },
      { filter: conditions(100, widgets(1_000)) },
      { filter: conditions(25, `assistantId:in:${ids(1_000)}`) },
      { where: { tagIds: { in: ids(1_000) }, assistantId: { in: ids(1_000) }, managerId: { in: ids(1_000) } } },
    ])
      expect((await ask(allowed)).errors).toBeUndefined()
    for (const beyond of [
      { filter: conditions(101, "unread:eq:true") },
      { filter: conditions(30_000, "unread:eq:true") },
      { filter: widgets(1_001) },
      { filter: widgets(70_000) },
      { where: { assistantId: { in: ids(1_001) } } },
      { where: { tagIds: { in: ids(20_000) } } },
    ]) {
      const { data, errors } = await ask(beyond)
      expect({ data, errors }).toMatchObject({ data: null, errors: [{ extensions: { code: "BAD_USER_INPUT", statusCode: 400 } }] })
    }
    for (const day of ["0000-01-01", "9999-12-31"]) expect((await ask({ filter: `createdAt:lte:${day}` })).errors).toBeUndefined()
  })

  it("sorted by creation pages by offset, and takes no cursor", async () => {
    const first = await list("sortBy=createdAt&sortOrder=ASC&take=2")
    expect(first).toMatchObject({ data: [{ name: "Ada 100%" }, { name: "Bob_b" }], totalCount: 4, nextCursor: null })
    expect((await list("sortBy=createdAt&sortOrder=ASC&take=2&skip=2")).data.map((chat: { name: string }) => chat.name)).toEqual([
      "Zoë",
      "Dan\\o",
    ])
    const { nextCursor } = await list("take=1")
    await rest.as(acme.token).get(`/api/chats?sortBy=createdAt&cursor=${nextCursor}`).expect(400)
  })
})
