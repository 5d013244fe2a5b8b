import type { Columns } from "../database/tables.js"
import type { FunctionCall, FunctionCallOutput } from "../entities/kit/tool-frames.js"
import type { HeardMessage } from "./tool-loop.js"

/** A message as the statements of a turn read it: its role, its text, its tool call or output, and its ID if this turn answers it. */
export type StoredMessage = [Columns<"Message">["role"], string | null, FunctionCall | null, FunctionCallOutput | null, string | null]

const speakers = { Customer: "customer", Assistant: "assistant", User: "person" } as const

/** The messages of a chat as the model reads them, oldest first. */
export function asModelMessages(messages: StoredMessage[]): HeardMessage[] {
  const names = new Map<string, string>()
  return messages.flatMap(([role, text, call, result, messageId]): HeardMessage[] => {
    if (call) {
      names.set(call.callId, call.name)
      return [{ role: "call", callId: call.callId, name: call.name, arguments: call.arguments }]
    }
    if (result) return [{ role: "result", callId: result.callId, name: names.get(result.callId) ?? "", output: result.output }]
    if (role === "System" || !text) return []
    return [{ role: speakers[role], text, ...(messageId && { isNew: true, messageId }) }]
  })
}
