import { v7 } from "uuid"
import { protocols } from "../kit/graphql-client.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, gql, sql } = w

/** Chats by a letter each; their ids are known before they are. */
const people = "abcd"
const ids: Record<string, string> = {}
const unknown = v7()

beforeAll(async () => {
  const second = await acme.makeAssistant({ name: "Second" })
  const [folder, red, blue] = [await acme.folder(), await acme.tag({ name: "Red" }), await acme.tag({ name: "Blue" })]
  Object.assign(ids, {
    folder: folder.id,
    red: red.id,
    blue: blue.id,
    first: acme.assistant.id,
    second: second.id,
    foreign: globex.owner.id,
  })
  Object.assign(ids, { member: acme.member.id, owner: acme.owner.id, unknown, company: acme.id })
  const shop = { messenger: "telegram", fromId: "shop" }
  const made = {
    a: { ...shop, assistantId: ids["first"], managerId: ids["member"], phoneNumber: "+380501112233" },
    b: { ...shop, messenger: "telegram-bot", chatType: "group", managerId: ids["owner"], phoneNumber: "a;b,c\\d:e_1%", name: "ÄRGER" },
    c: { ...shop, fromId: "kiosk", messenger: "olx", sourceChannel: "rozetka", phoneNumber: "380-EXT-50", accountName: "Big Shop" },
    d: { ...shop, messenger: "playground", assistantId: ids["second"], username: "ann_d" },
  }
  for (const [letter, fields] of Object.entries(made)) ids[letter] = (await acme.chat({ externalId: letter, ...fields })).id
  const as = w.rest.as(acme.token)
  await as.patch(`/api/chats/${ids["a"]}/folder`, { folderId: ids["folder"] }).expect(200)
  await as.put(`/api/chats/${ids["a"]}/tags`, { tagIds: [ids["red"], ids["blue"]] }).expect(200)
  await as.put(`/api/chats/${ids["b"]}/tags`, { tagIds: [ids["blue"]] }).expect(200)
  await acme.message({ chatId: ids["c"], role: "Customer" })
  // The last millisecond of a day, the first of the next, and noon of that.
  const times = {
    a: ["2026-01-10T23:59:59.999Z", "2026-02-01T23:59:59.999Z"],
    b: ["2026-01-11T00:00:00.000Z", "2026-02-02T00:00:00.000Z"],
    c: ["2026-01-11T12:00:00.000Z", "2026-02-03T12:00:00.000Z"],
    d: ["2026-01-12T00:00:00.000Z", null],
  }
  for (const [letter, [created, last]] of Object.entries(times))
    await sql("update chat set created_at = $2, last_message_at = $3 where id = $1", [ids[letter], created, last])
  await sql("update chat set ai_disable_reason = 'auto' where id = $1", [ids["c"]])
  // Another company's chats match no condition here.
  await globex.chat({ ...shop, externalId: "theirs" })
})

/** `{red}` is the id of that name. */
const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name]!)
const lettersOf = (chats: { externalId: string }[]) =>
  chats
    .map(({ externalId }) => externalId)
    .sort()
    .join("")

/** A filter, the chats that it finds, the typed condition, and the separate parameter if there is one. */
const conditions: [string, string, string, string?][] = [
  ["messenger:eq:telegram", "a", "messenger: { eq: TELEGRAM }", "messenger=telegram"],
  ["messenger:eq:telegram-bot", "b", "messenger: { eq: TELEGRAM_BOT }", "messenger=telegram-bot"],
  ["messenger:in:olx,playground,olx", "cd", "messenger: { in: [OLX, PLAYGROUND, OLX] }"],
  ["messenger:eq:viber-echat", "", "messenger: { eq: VIBER_ECHAT }", "messenger=viber-echat"],
  ["assistantId:eq:{first}", "a", 'assistantId: { eq: "{first}" }', "assistantId={first}"],
  ["assistantId:in:{first},{second},{unknown}", "ad", 'assistantId: { in: ["{first}", "{second}", "{unknown}"] }'],
  ["assistantId:eq:{unknown}", "", 'assistantId: { eq: "{unknown}" }', "assistantId={unknown}"],
  ["managerId:eq:{member}", "a", 'managerId: { eq: "{member}" }', "managerId={member}"],
  ["managerId:eq:me", "b", 'managerId: { eq: "me" }', "managerId=me"],
  ["managerId:eq:null", "cd", 'managerId: { eq: "null" }', "managerId=null"],
  ["managerId:in:me,{member}", "ab", 'managerId: { in: ["me", "{member}"] }'],
  ["managerId:in:null,{member}", "acd", 'managerId: { in: ["null", "{member}"] }'],
  ["managerId:eq:{foreign}", "", 'managerId: { eq: "{foreign}" }', "managerId={foreign}"],
  ["isUnderAiControl:eq:true", "ad", "isUnderAiControl: { eq: true }", "isUnderAiControl=true"],
  ["isUnderAiControl:eq:false", "bc", "isUnderAiControl: { eq: false }", "isUnderAiControl=false"],
  ["unread:eq:true", "c", "unread: { eq: true }", "unread=true"],
  ["unread:eq:false", "abd", "unread: { eq: false }", "unread=false"],
  ["needsAttention:eq:true", "c", "needsAttention: { eq: true }"],
  ["needsAttention:eq:false", "abd", "needsAttention: { eq: false }"],
  ["chatType:eq:group", "b", "chatType: { eq: GROUP }"],
  ["chatType:in:private,group", people, "chatType: { in: [PRIVATE, GROUP] }"],
  ["phoneNumber:like:050", "a", 'phoneNumber: { like: "050" }'],
  ["phoneNumber:like:ext", "c", 'phoneNumber: { like: "ext" }'],
  ["phoneNumber:like:_1%", "b", 'phoneNumber: { like: "_1%" }'],
  ["phoneNumber:like:%", "b", 'phoneNumber: { like: "%" }'],
  ["phoneNumber:startsWith:+38050", "a", 'phoneNumber: { startsWith: "+38050" }'],
  ["phoneNumber:startsWith:38", "c", 'phoneNumber: { startsWith: "38" }'],
  ["phoneNumber:startsWith:A\\;B\\,C\\\\D:", "b", 'phoneNumber: { startsWith: "A;B,C\\\\D:" }'],
  ["lastMessageAt:gte:2026-02-02", "bc", 'lastMessageAt: { gte: "2026-02-02" }'],
  ["lastMessageAt:lte:2026-02-01", "a", 'lastMessageAt: { lte: "2026-02-01" }'],
  ["lastMessageAt:between:2026-02-01,2026-02-02", "ab", 'lastMessageAt: { between: ["2026-02-01", "2026-02-02"] }'],
  ["createdAt:gte:2026-01-11", "bcd", 'createdAt: { gte: "2026-01-11" }'],
  ["createdAt:lte:2026-01-11", "abc", 'createdAt: { lte: "2026-01-11" }'],
  ["createdAt:between:2026-01-11,2026-01-11", "bc", 'createdAt: { between: ["2026-01-11", "2026-01-11"] }'],
  ["createdAt:gte:0001-01-01;createdAt:lte:9999-12-31", people, 'createdAt: { gte: "0001-01-01", lte: "9999-12-31" }'],
  ["folderId:eq:{folder}", "a", 'folderId: { eq: "{folder}" }'],
  ["folderId:eq:null", "bcd", 'folderId: { eq: "null" }'],
  ["folderId:eq:{unknown}", "", 'folderId: { eq: "{unknown}" }'],
  ["tagIds:in:{red}", "a", 'tagIds: { in: ["{red}"] }'],
  ["tagIds:in:{red},{blue}", "ab", 'tagIds: { in: ["{red}", "{blue}"] }'],
  ["tagIds:in:{unknown}", "", 'tagIds: { in: ["{unknown}"] }'],
  ["messenger:in:telegram,olx;unread:eq:true", "c", "messenger: { in: [TELEGRAM, OLX] }, unread: { eq: true }"],
  ["unread:eq:true;unread:eq:false", "", "unread: { eq: true }, messenger: { in: [] }"],
]

/** Parameters that are not conditions of the filter. */
const parameters: [string, string][] = [
  ["fromId=shop", "abd"],
  ["fromId=SHOP", ""],
  ["sourceChannel=rozetka", "c"],
  ["sourceChannel=olx", ""],
  ["companyId={company}", people],
  ["search=ärg", "b"],
  ["search=BIG+SHOP", "c"],
  ["search=%20ANN_%20", "d"],
  ["search=%2B380", "a"],
  ["search=%25", "b"],
  ["search=_", "bd"],
  ["search=%5C", "b"],
  ["fromId=shop&messenger=telegram&filter=unread:eq:false&search=380", "a"],
  ["fromId=kiosk&messenger=telegram", ""],
  ["managerId=me&filter=managerId:eq:{member}", ""],
]

describe("every condition on chats", () => {
  const typed = "query ($after: String) { chats(where: { WHERE }, after: $after) { nodes { externalId } totalCount } }"

  it.each(conditions.map((condition) => [condition[0], condition[1], condition] as const))(
    "%s finds %s, as text, typed and as a separate parameter, over both protocols",
    async (_filter, _letters, [filter, letters, where, parameter]) => {
      const asked = [
        `filter=${encodeURIComponent(filled(filter))}`,
        `filter=${encodeURIComponent(filled(filter).replace(/[0-9a-f-]{36}/g, (id) => id.toUpperCase()))}`,
      ]
      if (parameter) asked.push(filled(parameter))
      for (const [name, clientOf] of protocols) {
        for (const query of asked) {
          const { body } = await clientOf(w).as(acme.owner.jwt).get(`/api/chats?${query}`).expect(200)
          expect([name, query, lettersOf(body.data), body.totalCount]).toEqual([name, query, letters, letters.length])
        }
      }
      const { data, errors } = await gql(acme.owner.jwt, typed.replace("WHERE", filled(where)))
      expect(errors).toBeUndefined()
      expect([lettersOf(data.chats.nodes), data.chats.totalCount]).toEqual([letters, letters.length])
    },
  )

  it.each(parameters)("%s finds %s, over both protocols", async (query, letters) => {
    for (const [name, clientOf] of protocols) {
      const { body } = await clientOf(w)
        .as(acme.owner.jwt)
        .get(`/api/chats?${filled(query)}`)
        .expect(200)
      expect([name, lettersOf(body.data), body.totalCount]).toEqual([name, letters, letters.length])
    }
  })

  it.each([
    ["messenger: { eq: FAX }", "GRAPHQL_VALIDATION_FAILED"],
    ['assistantId: { eq: "me" }', "BAD_USER_INPUT"],
    ['managerId: { eq: "nobody" }', "BAD_USER_INPUT"],
    ['managerId: { in: ["null", ""] }', "BAD_USER_INPUT"],
    ['folderId: { eq: "me" }', "BAD_USER_INPUT"],
    ['phoneNumber: { like: "" }', "BAD_USER_INPUT"],
    ['createdAt: { gte: "2026-02-30" }', "BAD_USER_INPUT"],
    ['createdAt: { between: ["2026-01-01"] }', "BAD_USER_INPUT"],
    ['createdAt: { between: ["2026-01-02", "2026-01-01"] }', "BAD_USER_INPUT"],
    ["unread: { eq: 1 }", "GRAPHQL_VALIDATION_FAILED"],
    ["tagIds: { eq: [] }", "GRAPHQL_VALIDATION_FAILED"],
    ["messenger: { like: OLX }", "GRAPHQL_VALIDATION_FAILED"],
  ])("typed as { %s } is refused", async (where, code) => {
    const { errors } = await gql(acme.owner.jwt, typed.replace("WHERE", where))
    expect(errors![0]!.extensions).toMatchObject({ code, statusCode: 400 })
  })

  it("me is refused under an access token, which has no user", async () => {
    for (const query of ["managerId=me", "filter=managerId:eq:me", "filter=managerId:in:null,me"]) {
      for (const [, clientOf] of protocols) await clientOf(w).as(acme.token).get(`/api/chats?${query}`).expect(400)
    }
    const { errors } = await gql(acme.token, typed.replace("WHERE", 'managerId: { eq: "me" }'))
    expect(errors![0]!.extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "managerId" }] })
  })
})

describe("a connection", () => {
  interface Edge {
    cursor: string
    node: { id: string }
  }
  const page = async (list: string, args: string) => {
    const text = `{ ${list}${args && `(${args})`} { edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
    const { data, errors } = await gql(acme.token, text)
    expect(errors).toBeUndefined()
    const { edges, nodes, pageInfo } = data[list] as { edges: Edge[]; nodes: Edge["node"][]; pageInfo: Record<string, unknown> }
    expect(edges.map(({ node }) => node)).toEqual(nodes)
    return { edges, ids: nodes.map(({ id }) => id), pageInfo }
  }

  it.each(["chats", "messages"])("of %s continues after any of its edges, and has page information", async (list) => {
    const chatId = ids["d"]
    for (let sent = 0; list === "messages" && sent < 4; sent += 1) await acme.message({ chatId, role: "System", text: "Noted" })
    const where = list === "messages" ? `chatId: "${chatId}", ` : ""
    const all = await page(list, `${where}first: 4`)
    const [first, second, , last] = all.edges.map(({ cursor }) => cursor)
    expect(all.ids).toHaveLength(4)
    expect(all.pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: false, startCursor: first, endCursor: last })
    const behind = await page(list, `${where}first: 1, after: "${second}"`)
    expect(behind.ids).toEqual([all.ids[2]])
    expect(behind.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true, startCursor: behind.edges[0]!.cursor })
    expect((await page(list, `${where}after: "${last}"`)).ids).toEqual([])
    const byOffset = await page(list, `${where}first: 1, skip: 1`)
    expect(byOffset.ids).toEqual([all.ids[1]])
    expect(byOffset.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: true, startCursor: null, endCursor: null })
    for (const args of ["first: 0", "first: 101", "first: -1", "skip: -1", `skip: 0, after: "${first}"`, 'after: "nonsense"']) {
      const { errors } = await gql(acme.token, `{ ${list}(${where}${args}) { nodes { id } } }`)
      expect([args, errors?.[0]?.extensions.code, errors?.[0]?.extensions.statusCode]).toEqual([args, "BAD_USER_INPUT", 400])
    }
  })

  it("sorted by creation pages by offset, in both directions, and takes no cursor", async () => {
    for (const [order, expected] of [
      ["ASC", "abcd"],
      ["DESC", "dcba"],
    ]) {
      for (const [, clientOf] of protocols) {
        const { body } = await clientOf(w).as(acme.token).get(`/api/chats?sortBy=createdAt&sortOrder=${order}`).expect(200)
        expect(body.data.map((chat: { externalId: string }) => chat.externalId).join("")).toBe(expected)
        expect(body.nextCursor).toBeNull()
        const { body: some } = await clientOf(w)
          .as(acme.token)
          .get(`/api/chats?sortBy=createdAt&sortOrder=${order}&skip=1&take=2`)
          .expect(200)
        expect(some.data).toEqual(body.data.slice(1, 3))
      }
    }
    const { edges } = await page("chats", "first: 1")
    const { errors } = await gql(acme.token, `{ chats(sortBy: CREATED_AT, after: "${edges[0]!.cursor}") { nodes { id } } }`)
    expect(errors![0]!.extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "cursor" }] })
  })

  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const moment = "2026-01-01 00:00:00.001+00"

  it.each([
    ["chats desc", "1", unknown],
    ["chats desc", "infinity", unknown],
    ["chats desc", "2026-02-30 00:00:00+00", unknown],
    ["chats desc", "2026-01-01 24:00:01+00", unknown],
    ["chats desc", "+275760-09-13", unknown],
    ["chats desc", "0000-01-01 00:00:00+00", unknown],
    ["chats desc", "2026-01-01 00:00:00+16", unknown],
    ["chats desc", "2026-01-01 00:00:00-99:00", unknown],
    ["chats desc", "2026-01-01 00:00:00+00:60", unknown],
    ["chats desc", moment, "-".repeat(36)],
    ["chats desc", moment, null],
    ["chats desc", moment],
    ["chats desc", moment, unknown, 1],
    ["chats asc", moment, unknown],
  ])("forged as [%s, %s, %s] is no cursor", async (...parts) => {
    for (const [, clientOf] of protocols)
      expect(
        (
          await clientOf(w)
            .as(acme.token)
            .get(`/api/chats?cursor=${forged(parts)}`)
            .expect(400)
        ).body.details[0].path,
      ).toBe("cursor")
  })

  it.each(["0001-01-01 00:00:00+00", "0001-01-01 00:00:00+15:59", "9999-12-31 23:59:59.999999-15:59"])("at %s is one", async (at) => {
    await w.rest
      .as(acme.token)
      .get(`/api/chats?cursor=${forged(["chats desc", at, unknown])}`)
      .expect(200)
  })

  it.each([9007199254740991, 2 ** 31, -(2 ** 31), 1.5, "1", null])("of messages forged as %s is no cursor", async (place) => {
    for (const [, clientOf] of protocols) {
      const query = `chatId=${ids["a"]}&cursor=${forged([`messages ${ids["a"]}`, place])}`
      expect((await clientOf(w).as(acme.token).get(`/api/messages?${query}`).expect(400)).body.details[0].path).toBe("cursor")
    }
  })
})
