import { setTimeout as sleep } from "node:timers/promises"
import type { ModelMessage } from "../src/ports/text-model.js"
import type { Client } from "./fixtures.js"
import { hitsIn } from "./hits.js"
import type { Reaction } from "./judge.js"
import type { Script } from "./script.js"

/** Longest wait for the end of a call. */
const patienceMs = 10 * 60_000
const pollMs = 100

/** Plays one conversation as a call on the simulated line; returns the assistant's reaction to each line of the customer. */
export async function playCall(client: Client, assistantId: string, conversation: Script["conversations"][number]): Promise<Reaction[]> {
  const says = conversation.lines.map(({ customer }) => [customer].flat().join(" ").replaceAll("|", " ")).join("|")
  const dynamicVariables = { ...conversation.call!.dynamicVariables, simulate: "answer", simulate_says: says }
  const body = { phoneNumber: "+380441234567", dynamicVariables }
  const begin = performance.now()
  const { workflowId } = await client.rest("POST", `/api/assistants/${assistantId}/originate`, body)
  for (;;) {
    const messages = await client.conversationOf(workflowId)
    if (messages) return reactions(messages, await hitsIn(client, `callId:eq:${workflowId}`), performance.now() - begin)
    await sleep(pollMs)
    if (performance.now() - begin > patienceMs) throw new Error(`The call ${conversation.name} did not end`)
  }
}

/** What the assistant said and called after each line; the time of a line is the mean of the call's. */
function reactions(messages: ModelMessage[], hits: string[], tookMs: number): Reaction[] {
  const starts = messages.flatMap(({ role }, index) => (role === "customer" ? [index] : []))
  return starts.map((start, place) => {
    const since = messages.slice(start + 1, starts[place + 1])
    return {
      answer: since.flatMap((message) => (message.role === "assistant" ? [message.text] : [])).join("\n"),
      calls: since.flatMap((message) =>
        message.role === "call" ? [{ name: message.name, arguments: message.arguments as Record<string, unknown> }] : [],
      ),
      // A hit names its call, but no line of it.
      hits: starts.length === 1 ? hits : null,
      handedOff: false,
      milliseconds: Math.round(tookMs / starts.length),
      inputTokens: null,
      outputTokens: null,
    }
  })
}
