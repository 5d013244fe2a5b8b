import fc from "fast-check"
import { checkCommands } from "../../src/admin/checks.js"
import type { CommandContext } from "../../src/admin/kit.js"
import { addUpChatCounts } from "../../src/jobs/add-up-chat-counts.js"
import { promise, promised } from "../kit/promise.js"
import { openTransaction } from "../kit/transaction.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, gql, sql } = w

/** A chat with everything that lists are filtered by. */
interface Chat {
  id: string
  messenger: string
  unreadCount: number
  needsAttention: boolean
  isUnderAiControl: boolean
  managerId: string | null
  folderId: string | null
  tags: { id: string }[]
}

const shown = "id messenger unreadCount needsAttention isUnderAiControl managerId folderId tags { id }"
const wrong = () => checkCommands["check:counters"]!.run({ database: w.services.database } as CommandContext, {})
const addUp = () => addUpChatCounts.run(w.services)
const changes = async () => (await sql("select count(*)::integer as count from chat_count_change"))[0].count

async function ask(text: string, variables: object = {}, credential = acme.owner.jwt) {
  const { data, errors } = await gql(credential, text, { ...variables })
  expect(errors).toBeUndefined()
  return data
}
const listed = (where: object, first = 100, credential = acme.owner.jwt, company = acme.id) =>
  ask(
    `query ($where: ChatWhere, $company: UUID, $first: Int) { chats(companyId: $company, first: $first, where: $where) { totalCount nodes { ${shown} } } }`,
    { where, company, first },
    credential,
  ).then(({ chats }): { totalCount: number; nodes: Chat[] } => chats)

let folders: string[]
let tags: string[]
let managers: string[]
let chats: string[]

beforeAll(async () => {
  await stopScheduler(w)
  folders = [(await acme.folder({ name: "Sales" })).id, (await acme.folder({ name: "Service" })).id]
  tags = await Promise.all(["red", "green", "blue"].map(async (name) => (await acme.tag({ name })).id))
  managers = [acme.owner.id, acme.member.id]
  chats = []
  for (let made = 0; made < 24; made++) {
    const messenger = ["widget", "telegram-bot", "olx"][made % 3]
    chats.push((await acme.chat({ messenger, fromId: "counted", externalId: `customer ${made}` })).id)
  }
  await globex.chat()
})

/** Resolves when a transaction waits for another one, or when there is nothing left that could. */
async function blockedOr(work: Promise<unknown>) {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await until("a transaction waits", async () => isDone || (await sql(waiting)).length > 0)
}

/** One change of a chat, as a client makes it. */
const changing = {
  customer: (id: string) => acme.message({ chatId: id, role: "Customer" }),
  person: (id: string) => acme.message({ chatId: id, role: "User" }),
  read: (id: string) => ask("mutation ($id: UUID!) { markChatRead(id: $id) { id } }", { id }),
  unread: (id: string) => ask("mutation ($id: UUID!) { markChatUnread(id: $id) { id } }", { id }),
  assign: (id: string) =>
    ask("mutation ($id: UUID!, $to: UUID!) { assignAssistant(id: $id, assistantId: $to) { id } }", { id, to: acme.assistant.id }),
  handOff: (id: string) =>
    ask("mutation ($id: UUID!) { setAiControl(id: $id, isUnderAiControl: false, aiDisableReason: AUTO) { id } }", { id }),
  manager: (id: string, turn: number) =>
    ask("mutation ($id: UUID!, $to: UUID) { assignManager(id: $id, managerId: $to) { id } }", { id, to: [...managers, null][turn % 3] }),
  folder: (id: string, turn: number) =>
    ask("mutation ($id: UUID!, $to: UUID) { setChatFolder(id: $id, folderId: $to) { id } }", { id, to: [...folders, null][turn % 3] }),
  tags: (id: string, turn: number) =>
    ask("mutation ($id: UUID!, $to: [UUID!]!) { setChatTags(id: $id, tagIds: $to) { id } }", {
      id,
      to: tags.filter((_tag, place) => (turn >> place) % 2 === 1),
    }),
} satisfies Record<string, (id: string, turn: number) => Promise<unknown>>

const anyChanges = fc.array(
  fc.record({
    what: fc.constantFrom(...(Object.keys(changing) as (keyof typeof changing)[])),
    chat: fc.nat({ max: 23 }),
    turn: fc.nat({ max: 7 }),
  }),
  { minLength: 40, maxLength: 60 },
)

/** Every way to filter by what is kept, alone and together, with what a chat must be like. */
function filters(): { where: object; fits(chat: Chat): boolean }[] {
  const facts = [
    { where: {}, fits: () => true },
    ...[true, false].map((eq) => ({ where: { unread: { eq } }, fits: (chat: Chat) => chat.unreadCount > 0 === eq })),
    ...[true, false].map((eq) => ({ where: { needsAttention: { eq } }, fits: (chat: Chat) => chat.needsAttention === eq })),
    ...[true, false].map((eq) => ({ where: { isUnderAiControl: { eq } }, fits: (chat: Chat) => chat.isUnderAiControl === eq })),
    {
      where: { unread: { eq: true }, isUnderAiControl: { eq: false } },
      fits: (chat: Chat) => chat.unreadCount > 0 && !chat.isUnderAiControl,
    },
  ]
  const tagged = (ids: string[]) => (chat: Chat) => chat.tags.some(({ id }) => ids.includes(id))
  const others = [
    { where: {}, fits: () => true },
    { where: { messenger: { eq: "OLX" } }, fits: (chat: Chat) => chat.messenger === "OLX" },
    { where: { messenger: { in: ["OLX", "WIDGET"] } }, fits: (chat: Chat) => ["OLX", "WIDGET"].includes(chat.messenger) },
    { where: { managerId: { eq: "me" } }, fits: (chat: Chat) => chat.managerId === acme.owner.id },
    { where: { managerId: { in: ["null", acme.member.id] } }, fits: (chat: Chat) => chat.managerId !== acme.owner.id },
    ...[...folders, null].map((id) => ({ where: { folderId: { eq: String(id) } }, fits: (chat: Chat) => chat.folderId === id })),
    ...[tags.slice(0, 1), tags.slice(0, 2), tags, []].map((ids) => ({ where: { tagIds: { in: ids } }, fits: tagged(ids) })),
    {
      where: { tagIds: { in: tags.slice(1) }, messenger: { eq: "WIDGET" } },
      fits: (chat: Chat) => chat.messenger === "WIDGET" && tagged(tags.slice(1))(chat),
    },
    // Not kept.
    {
      where: { folderId: { eq: "null" }, messenger: { eq: "OLX" } },
      fits: (chat: Chat) => chat.folderId === null && chat.messenger === "OLX",
    },
  ]
  return facts.flatMap((fact) =>
    others.map((other) => ({ where: { ...fact.where, ...other.where }, fits: (chat: Chat) => fact.fits(chat) && other.fits(chat) })),
  )
}

/** Holds every list, and its total, against the list of all chats. */
async function everyListIsRight() {
  const all = await listed({})
  expect(all.totalCount).toBe(all.nodes.length)
  for (const { where, fits } of filters()) {
    const wanted = all.nodes.filter(fits)
    const list = await listed(where)
    // A page of a frequent match is read by recency; one of a rare match, or a large page, from all that match.
    const first = await listed(where, 2)
    const uncounted = await ask("query ($where: ChatWhere) { chats(first: 2, where: $where) { nodes { id } } }", { where })
    promise(`the first page of ${JSON.stringify(where)} is the same without its number`, () =>
      expect(uncounted.chats.nodes).toEqual(wanted.slice(0, 2).map(({ id }) => ({ id }))),
    )
    promise(`the list of ${JSON.stringify(where)} has what it counts`, () =>
      expect(list).toEqual({ totalCount: wanted.length, nodes: wanted }),
    )
    promise(`the first page of ${JSON.stringify(where)} begins it`, () =>
      expect(first).toEqual({ totalCount: wanted.length, nodes: wanted.slice(0, 2) }),
    )
  }
}

it("lists of chats count exactly what they have, whatever was changed and however much of it is added up", async () => {
  await fc.assert(
    fc.asyncProperty(anyChanges, fc.nat({ max: 39 }), async (steps, addedAfter) => {
      for (const [index, { what, chat, turn }] of steps.entries()) {
        await changing[what](chats[chat]!, turn)
        if (index === addedAfter) await addUp()
      }
      await everyListIsRight()
      expect(await wrong()).toEqual([])
    }),
    { numRuns: 3 },
  )
  await addUp()
  expect(await changes()).toBe(0)
  await everyListIsRight()
})

it("the numbers are exact after changes at the same time, while they are added up by several instances", async () => {
  let isChanging = true
  const adding = Array.from({ length: 2 }, async () => {
    while (isChanging) await addUp()
  })
  const names = Object.keys(changing) as (keyof typeof changing)[]
  const clients = Array.from({ length: 6 }, async (_client, number) => {
    for (let turn = 0; turn < 40; turn++) {
      const each = number * 40 + turn
      // Few chats, so that clients meet in the same one.
      await changing[names[(each * 7 + number) % names.length]!](chats[each % 4]!, each % 8)
    }
  })
  await Promise.all(clients).finally(() => {
    isChanging = false
  })
  await Promise.all(adding)
  expect(await wrong()).toEqual([])
  await everyListIsRight()
})

promised("a tag that is added while the chat becomes unread is counted as the chat is then", async () => {
  const chat = (await acme.chat()).id
  await using tagging = await openTransaction(w.databaseUrl)
  await tagging.query("insert into chat_tagging (chat_id, tag_id, company_id) values ($1, $2, $3)", [chat, tags[0], acme.id])
  const message = changing.customer(chat)
  await blockedOr(message)
  await tagging.commit()
  await message
  expect(await wrong()).toEqual([])
  await using flip = await openTransaction(w.databaseUrl)
  await flip.query("update chat set unread_count = 0, last_read_sequence = last_sequence where id = $1", [chat])
  const added = sql("insert into chat_tagging (chat_id, tag_id, company_id) values ($1, $2, $3)", [chat, tags[1], acme.id])
  await blockedOr(added)
  await flip.commit()
  await added
  expect(await wrong()).toEqual([])
})

promised("numbers that are added up while their company is deleted go with it", async () => {
  const company = "00000000-0000-7000-8000-000000000002"
  await sql("insert into company (id, created_at, updated_at, name) values ($1, now(), now(), 'Short')", [company])
  await sql(
    "insert into chat (id, created_at, updated_at, company_id, messenger, from_id) values (gen_random_uuid(), now(), now(), $1, 'olx', 'short')",
    [company],
  )
  await using deletion = await openTransaction(w.databaseUrl)
  await deletion.query("delete from company where id = $1", [company])
  const adding = addUp()
  await blockedOr(adding)
  await deletion.commit()
  await adding
  await addUp()
  expect(await sql("select from chat_count where company_id = $1", [company])).toEqual([])
  expect(await wrong()).toEqual([])
})

it("a chat, a folder, a tag and a manager that are deleted are counted no more", async () => {
  const folder = (await acme.folder({ name: "Gone" })).id
  const tag = (await acme.tag({ name: "gone" })).id
  const person = await acme.person("member")
  const gone = (await acme.chat()).id
  for (const id of [gone, ...chats.slice(4, 8)]) {
    await ask("mutation ($id: UUID!, $to: UUID!) { setChatFolder(id: $id, folderId: $to) { id } }", { id, to: folder })
    await ask("mutation ($id: UUID!, $to: UUID!) { addChatTag(id: $id, tagId: $to) { id } }", { id, to: tag })
    await ask("mutation ($id: UUID!, $to: UUID!) { assignManager(id: $id, managerId: $to) { id } }", { id, to: person.id })
  }
  const total = (await listed({})).totalCount
  await ask("mutation ($id: UUID!) { deleteChat(id: $id) { id } }", { id: gone })
  expect((await listed({})).totalCount).toBe(total - 1)
  expect((await listed({ tagIds: { in: [tag] } })).totalCount).toBe(4)
  await ask("mutation ($id: UUID!) { deleteChatFolder(id: $id) { id } }", { id: folder })
  await ask("mutation ($id: UUID!) { deleteChatTag(id: $id) { id } }", { id: tag })
  await sql("update chat set manager_id = null where manager_id = $1", [person.id])
  for (const where of [{ folderId: { eq: folder } }, { tagIds: { in: [tag] } }, { managerId: { eq: person.id } }])
    expect(await listed(where)).toEqual({ totalCount: 0, nodes: [] })
  expect(await wrong()).toEqual([])
  await everyListIsRight()
})

promised("the numbers of a company are its own, and go with it", async () => {
  const other = await listed({}, 100, globex.owner.jwt, globex.id)
  expect(other.totalCount).toBe(other.nodes.length)
  await addUp()
  await sql("insert into company (id, created_at, updated_at, name) values ('00000000-0000-7000-8000-000000000001', now(), now(), 'Short')")
  await sql(
    `insert into chat (id, created_at, updated_at, company_id, messenger, from_id)
     select gen_random_uuid(), now(), now(), '00000000-0000-7000-8000-000000000001', 'olx', 'short' from generate_series(1, 3)`,
  )
  await addUp()
  expect(await sql("select chats from chat_count where company_id = '00000000-0000-7000-8000-000000000001' and dimension = 'all'")).toEqual(
    [{ chats: 3 }],
  )
  await sql("update chat set unread_count = 1 where from_id = 'short'")
  await sql("delete from company where id = '00000000-0000-7000-8000-000000000001'")
  await addUp()
  expect(await sql("select 1 from chat_count where company_id = '00000000-0000-7000-8000-000000000001'")).toEqual([])
  expect(await changes()).toBe(0)
  expect(await wrong()).toEqual([])
})

it("check:counters finds a number that is wrong, and a tagging that repeats its chat wrongly", async () => {
  await changing.tags(chats[0]!, 1)
  await addUp()
  await sql(
    "update chat_count set chats = chats + 1 where company_id = $1 and dimension = 'messenger' and value = 'olx' and not is_unread",
    [acme.id],
  )
  const found = await wrong()
  expect(found).toContainEqual(expect.objectContaining({ companyId: acme.id, dimension: "messenger", value: "olx", isUnread: false }))
  await sql(
    "update chat_count set chats = chats - 1 where company_id = $1 and dimension = 'messenger' and value = 'olx' and not is_unread",
    [acme.id],
  )
  await sql("update chat_tagging set is_unread = not is_unread where chat_id = $1", [chats[0]])
  expect(await wrong()).toContainEqual({ companyId: acme.id, chatId: chats[0], tagId: tags[0] })
  await sql("update chat_tagging set is_unread = not is_unread where chat_id = $1", [chats[0]])
  expect(await wrong()).toEqual([])
})
