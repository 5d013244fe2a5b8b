import { databaseLimits } from "../../src/database/limits.js"
import { sentStatements } from "../kit/company-plans.js"
import { fillBeside, readsOf } from "../kit/large-company.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, gql } = w

/** Chats of the large company; it has 15 times as many messages, and the companies together have more tags and folders than that. A statement of a page reads some hundred rows, and never one for each chat. */
const chats = 8_000

beforeAll(async () => {
  await stopScheduler(w)
  await fillBeside(w, acme.id, chats)
})

/** The lists of a company, and what belongs to their rows. */
async function lists() {
  const [chat] = await w.sql("select id from chat where company_id = $1 and last_sequence = 15 limit 1", [acme.id])
  const tags = await w.sql("select id from chat_tag where company_id = $1 and name in ('beside 1', 'beside 3')", [acme.id])
  const tagIds = JSON.stringify(tags.map(({ id }) => id))
  const [folder] = await w.sql("select id from chat_folder where company_id = $1 and name = 'beside 1'", [acme.id])
  const of = `first: 50, companyId: "${acme.id}"`
  const shown = `totalCount nodes { id lastMessage { text } assistant { name } folder { name } tags { name } manager { name } }`
  const first = await gql(acme.owner.jwt, `{ chats(${of}) { ${shown} pageInfo { endCursor } } }`)
  const documents = [
    `{ chats(${of}, after: "${first.data.chats.pageInfo.endCursor}") { ${shown} } }`,
    `{ chats(${of}, unread: true) { ${shown} } }`,
    `{ chats(${of}, isUnderAiControl: false, messenger: OLX) { ${shown} } }`,
    `{ chats(${of}, managerId: "me") { ${shown} } }`,
    `{ chats(${of}, where: { needsAttention: { eq: true } }) { ${shown} } }`,
    `{ chats(${of}, where: { folderId: { eq: "${folder.id}" } }) { ${shown} } }`,
    `{ chats(${of}, where: { tagIds: { in: ${tagIds} }, unread: { eq: true } }) { ${shown} } }`,
    `{ messages(first: 30, chatId: "${chat.id}") { nodes { id text replyTo { id } messageMedia { media { id filename } } } } }`,
  ]
  for (const document of documents) expect((await gql(acme.owner.jwt, document)).errors).toBeUndefined()
  for (const path of [
    "/api/chats?take=50",
    `/api/chats/${chat.id}`,
    `/api/messages?chatId=${chat.id}`,
    "/api/chat-tags",
    "/api/chat-folders",
  ])
    await rest.as(acme.token).get(path).expect(200)
}

it("reads of a company with half of all rows do not read all of its rows, however PostgreSQL plans their statements", async () => {
  const asOften = async () => {
    for (let run = 0; run < databaseLimits.preparedAfter; run++) await lists()
  }
  // As often as a statement is sent until it is prepared.
  const statements = (await sentStatements(w, asOften)).filter(({ text }) => /^\s*(?:select|with)\b/i.test(text))
  expect(statements.length).toBeGreaterThan(10)
  const reads = await readsOf(w, statements)
  expect(reads.filter(({ rows }) => rows >= chats)).toEqual([])
})

it("unread chats of one messenger are found without reading the rows of others", async () => {
  const list = async () => {
    const document = `{ chats(first: 50, companyId: "${acme.id}", unread: true, messenger: OLX) { nodes { id } } }`
    expect((await gql(acme.owner.jwt, document)).data.chats.nodes).toHaveLength(50)
  }
  const statements = (await sentStatements(w, list)).filter(({ text }) => / from "chat" /.test(text))
  const reads = await readsOf(w, statements)
  expect(reads.length).toBeGreaterThan(0)
  // A page and the row that says whether there is another one; a third of the chats are on this messenger.
  expect(reads.filter(({ rows }) => rows > 51)).toEqual([])
})
