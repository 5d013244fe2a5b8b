import { setTimeout as sleep } from "node:timers/promises"
import type { Client } from "./fixtures.js"
import { hitsIn } from "./hits.js"
import type { Reaction } from "./judge.js"
import { playCall } from "./play-call.js"
import type { Line, Script } from "./script.js"

/** Longest wait for the answer to one line; longer than the server's own retries. */
const patienceMs = 5 * 60_000
const pollMs = 50

const chatState = `query ($id: UUID!) { chat(id: $id) { isUnderAiControl assistantTurns { outcome inputTokens outputTokens startedAt endedAt } } }`

/** Replays one conversation, in a new chat or as a call; returns the assistant's reaction to each line. */
export const play = (client: Client, assistantId: string, conversation: Script["conversations"][number]): Promise<Reaction[]> =>
  conversation.call ? playCall(client, assistantId, conversation) : playChat(client, assistantId, conversation)

async function playChat(client: Client, assistantId: string, conversation: Script["conversations"][number]): Promise<Reaction[]> {
  const chat = { messenger: "playground", fromId: "eval", name: conversation.name, assistantId }
  const { id } = await client.rest("POST", "/api/chats", chat)
  const reactions: Reaction[] = []
  for (const line of conversation.lines) {
    reactions.push(await say(client, id, line))
    // The chat was handed to a person: the assistant does not answer further lines.
    if (reactions.at(-1)!.handedOff) break
  }
  return reactions
}

async function say(client: Client, chatId: string, line: Line): Promise<Reaction> {
  const before = (await hitsIn(client, `chatId:eq:${chatId}`)).length
  let last = 0
  for (const text of [line.customer].flat()) {
    last = (await client.rest("POST", "/api/messages", { chatId, role: "Customer", text })).sequence
  }
  const begin = performance.now()
  for (;;) {
    await client.runDue()
    const { data } = await client.rest("GET", `/api/messages?chatId=${chatId}&take=100`)
    // biome-ignore lint/suspicious/noExplicitAny: as answered.
    const since: any[] = data.filter((message: any) => message.sequence > last).reverse()
    const { chat } = await client.gql(chatState, { id: chatId })
    const answer = since.filter((message) => message.role === "Assistant" && message.type === "Text").map((message) => message.text)
    const turn = chat.assistantTurns[0]
    if (turn?.endedAt && (answer.length > 0 || !chat.isUnderAiControl)) {
      return {
        answer: answer.join("\n"),
        calls: since.flatMap(({ functionCall }) => (functionCall ? [{ name: functionCall.name, arguments: functionCall.arguments }] : [])),
        hits: (await hitsIn(client, `chatId:eq:${chatId}`)).slice(before),
        handedOff: !chat.isUnderAiControl,
        milliseconds: Date.parse(turn.endedAt) - Date.parse(turn.startedAt),
        inputTokens: turn.inputTokens,
        outputTokens: turn.outputTokens,
      }
    }
    await sleep(pollMs)
    if (performance.now() - begin > patienceMs) throw new Error(`Nothing came after ${JSON.stringify(line.customer)}`)
  }
}
