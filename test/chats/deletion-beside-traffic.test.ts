import { randomInt } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { world } from "../kit/world.js"

// What is deleted while customers write, turns run and people read: whatever comes first, no request fails, and what was accepted is stored once.
const openAi = await startFakeOpenAi()
const endpoint = await receiver()
afterAll(() => Promise.all([openAi.close(), endpoint.close()]))

const w = world({ OPENAI_BASE_URL: openAi.url, REPLY_DEBOUNCE_MS: "0", REPLY_MAX_WAIT_MS: "0" })
const { acme, rest, gql, sql } = w
const as = () => rest.as(acme.token)

// Not a wait: what is under way at once comes in any order.
const sometime = (mostMs: number) => pause(randomInt(mostMs))

// Each answer takes a while, and half of them call the tool before.
beforeAll(() => {
  openAi.reply = async ({ body }) => {
    await sometime(8)
    const mayCall = body.tools?.length > 0 && body.messages.at(-1).role !== "tool" && randomInt(2) === 0
    return mayCall ? { toolCalls: [{ name: body.tools.at(-1).function.name }] } : { text: "I look it up." }
  }
})

interface Scene {
  chats: { id: string }[]
  assistant: { id: string }
  /** What is deleted. */
  path: string
}

type Kind = "assistant" | "tool" | "knowledge" | "webhook" | "tag" | "folder" | "chat"
const paths: Record<Kind, string> = {
  assistant: "assistants-new",
  tool: "assistant-tools-new",
  knowledge: "assistant-knowledge-new",
  webhook: "event-webhooks",
  tag: "chat-tags",
  folder: "chat-folders",
  chat: "chats",
}

/** An assistant with a tool and knowledge, and three of its chats; one of all these will be deleted. */
async function scene(deleted: Kind): Promise<Scene> {
  const assistant = await acme.makeAssistant()
  const of = { assistantId: assistant.id }
  const [tool, knowledge] = [await acme.tool({ ...of, apiCallUrl: endpoint.url }), await acme.makeKnowledge(of)]
  const [tag, folder] = [await acme.tag(), await acme.folder()]
  const webhook = await acme.eventWebhook({ url: endpoint.url, types: ["MESSAGE_CREATED", "CHAT_UPDATED"] })
  const chats = [await acme.chat(), await acme.chat(), await acme.chat()]
  for (const { id } of chats) {
    await as().patch(`/api/chats/${id}/assign-assistant`, of).expect(200)
    await as().patch(`/api/chats/${id}/folder`, { folderId: folder.id }).expect(200)
    await as()
      .put(`/api/chats/${id}/tags`, { tagIds: [tag.id] })
      .expect(200)
  }
  const { id } = { assistant, tool, knowledge, webhook, tag, folder, chat: chats[0]! }[deleted]
  return { chats, assistant, path: `/api/${paths[deleted]}/${id}` }
}

/** What people look at meanwhile. */
const looks = (assistantId: string) => ["/api/chats?take=20", `/api/assistant-tools-new?assistantId=${assistantId}`, "/api/event-webhooks"]

describe.each(Object.keys(paths) as Kind[])("a deletion beside live traffic, of: %s", (deleted) => {
  promised("breaks no request, loses and doubles no message, and leaves no turn", async () => {
    for (let round = 0; round < 3; round += 1) await race(await scene(deleted), deleted)
    expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })
})

/** Deletes while customers write and people read; checks what is left. */
async function race({ chats, assistant, path }: Scene, deleted: Kind) {
  const accepted: string[] = []
  const say = async (chatId: string, text: string) => {
    await sometime(30)
    const { status } = await as().post("/api/messages", { chatId, role: "Customer", text })
    if (status === 201) accepted.push(text)
    // A deleted chat is out of reach.
    else expect([deleted, status, chatId]).toEqual(["chat", 403, chats[0]!.id])
  }
  const look = async (at: string) => {
    await sometime(30)
    expect([200, 404]).toContain((await as().get(at)).status)
  }
  const remove = async () => {
    await sometime(30)
    expect((await as().delete(path)).status).toBe(200)
    return await answersOf(chats)
  }
  const texts = chats.flatMap(({ id }, chat) => Array.from({ length: 5 }, (_, index) => [id, `${path} ${chat} ${index}`] as const))
  const [answersBefore] = await Promise.all([remove(), ...texts.map(([id, text]) => say(id, text)), ...looks(assistant.id).map(look)])
  await w.runDue()

  const kept = accepted.filter((text) => deleted !== "chat" || !text.startsWith(`${path} 0 `)).toSorted()
  const stored = await sql("select text from message where chat_id = any($1) and role = 'Customer'", [chats.map(({ id }) => id)])
  expect(stored.map(({ text }) => text).toSorted()).toEqual(kept)
  if (deleted === "assistant") expect(await answersOf(chats)).toBe(answersBefore)
  const { data, errors } = await gql(acme.token, "query ($id: UUID!) { chat(id: $id) { assistant { id } } }", { id: chats[1]!.id })
  expect([errors, data.chat.assistant?.id ?? null]).toEqual([undefined, deleted === "assistant" ? null : assistant.id])
  const turns = "select id, reply_due_at, turn_id from chat where id = any($1) and (reply_due_at is not null or turn_id is not null)"
  expect(await sql(turns, [chats.map(({ id }) => id)])).toEqual([])
  await as().delete(path).expect(404)
}

const answersOf = async (chats: { id: string }[]): Promise<number> =>
  (await sql("select count(*)::int as answers from message where chat_id = any($1) and role = 'Assistant'", [chats.map(({ id }) => id)]))[0]
    .answers
