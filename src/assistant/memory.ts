import type { Columns } from "../database/tables.js"
import type { FunctionCall, FunctionCallOutput } from "../entities/message.js"
import type { ModelMessage } from "../ports/text-model.js"

/** A message as the statements of a turn read it: its role, its text, and its tool call or output. */
export type StoredMessage = [Columns<"Message">["role"], string | null, FunctionCall | null, FunctionCallOutput | null]

const speakers = { Customer: "customer", Assistant: "assistant", User: "person" } as const

/** The messages of a chat as the model reads them, oldest first. */
export function asModelMessages(messages: StoredMessage[]): ModelMessage[] {
  const names = new Map<string, string>()
  return messages.flatMap(([role, text, call, result]): ModelMessage[] => {
    if (call) {
      names.set(call.callId, call.name)
      return [{ role: "call", callId: call.callId, name: call.name, arguments: call.arguments }]
    }
    if (result) return [{ role: "result", callId: result.callId, name: names.get(result.callId) ?? "", output: result.output }]
    return role === "System" || !text ? [] : [{ role: speakers[role], text }]
  })
}
