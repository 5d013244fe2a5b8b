import { setTimeout as pause } from "node:timers/promises"
import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { storableJson } from "../entities/kit/storable.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { BadUserInput, NotFound } from "../errors/errors.js"
import type { LoggedEvent } from "../events/logged-event.js"
import { toolCallReadModel } from "../schema/tool-call.js"
import { assistantLimits } from "./limits.js"
import { lockedChat, record } from "./tool-log.js"
import { shownToModel } from "./webhook.js"

/** The time until which a client may answer. */
const expiryOf = (tool: AssistantTool, call: ToolCall) => new Date(call.createdAt.getTime() + tool.timeoutSeconds * 1000)

/** The payload of TOOL_CALL_REQUESTED on a voice call. */
export const requestOnCall = (callId: string, tool: AssistantTool, call: ToolCall) => ({
  toolCallId: call.id,
  chatId: null,
  callId,
  assistantId: tool.assistantId,
  toolId: tool.id,
  name: tool.name,
  arguments: call.params,
  expiresAt: expiryOf(tool, call).toISOString(),
})

/** The payload of TOOL_CALL_REQUESTED, which asks a client to run a tool call (contract, section 6). */
export const requestOfClient = (chat: Chat, tool: AssistantTool, call: ToolCall) => ({
  toolCallId: call.id,
  chatId: chat.id,
  assistantId: tool.assistantId,
  toolId: tool.id,
  name: tool.name,
  arguments: call.params,
  expiresAt: expiryOf(tool, call).toISOString(),
})

/**
 * Waits until the call has its output frame (written by a client's answer on any instance, or by the end of the turn), until its timeout, or
 * until this process stops. Returns the outcome that holds if the log has none; null when an answer may still come, for the log alone.
 */
export async function awaitClient(context: RequestContext, tool: AssistantTool, call: ToolCall): Promise<ToolOutcome | null> {
  const { stopping, eventStream } = context.services
  const begin = performance.now()
  const over = AbortSignal.any([AbortSignal.timeout(tool.timeoutSeconds * 1000), stopping])
  while (!over.aborted) {
    // The output frame is a message of the chat. The row is read after the subscription, so that no event is lost in between.
    const events = await eventStream({ companyIds: context.companyIds, chatId: call.chatId, types: ["MESSAGE_CREATED"], onSlow() {} })
    const end = () => void events.return?.()
    over.addEventListener("abort", end)
    try {
      if (!(await isPending(context, call.id))) break
      for await (const event of events) if (isOutputOf(event, call.id)) return null
    } finally {
      over.removeEventListener("abort", end)
      end()
    }
  }
  const error = notAnswered(context, tool)
  return { success: false, status: null, latencyMs: Math.round(performance.now() - begin), body: null, error }
}

/** Waits until a client has answered a call that has no chat, until its timeout, or until this process stops; returns as `awaitClient` does. */
export async function awaitClientOnCall(context: RequestContext, tool: AssistantTool, call: ToolCall): Promise<ToolOutcome | null> {
  const begin = performance.now()
  const over = AbortSignal.any([AbortSignal.timeout(tool.timeoutSeconds * 1000), context.services.stopping])
  while (!over.aborted) {
    if (!(await isPending(context, call.id))) return null
    await pause(assistantLimits.clientPollMs, undefined, { signal: over }).catch(() => {})
  }
  const error = notAnswered(context, tool)
  return { success: false, status: null, latencyMs: Math.round(performance.now() - begin), body: null, error }
}

/** Why there is no answer. */
const notAnswered = ({ services: { stopping } }: RequestContext, { timeoutSeconds }: AssistantTool) =>
  stopping.aborted ? "The server was stopped before the client had answered" : `The client did not answer within ${timeoutSeconds} s`

const isOutputOf = ({ snapshot }: LoggedEvent, callId: string) =>
  snapshot?.type === "Message" && snapshot.row.functionCallOutput?.callId === callId

async function isPending(context: RequestContext, callId: string): Promise<boolean> {
  const call = await context.reader.byId(toolCallReadModel, callId, { status: {} })
  return call?.status === "pending"
}

/** Stores a client's answer like any other result; the waiting turn reads it. */
export function answerCall(context: RequestContext, id: string, output: unknown): Promise<ToolCall> {
  const body = storableJson(output)
  if (Buffer.byteLength(JSON.stringify(body ?? null)) > assistantLimits.toolResponseReadBytes) throw tooLarge()
  return context.transaction(async (tx) => {
    const known = await tx.unit.em.findOne(ToolCall, { id })
    if (!known) throw new NotFound("Tool call")
    // Lock order: the chat first, then its rows.
    const chat = known.chatId ? await lockedChat(tx.unit, known.chatId) : null
    const call = await tx.unit.em.findOneOrFail(ToolCall, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    const tool = await tx.unit.em.findOneOrFail(AssistantTool, { id: call.toolId })
    if (tool.type !== "webhook_client") throw new BadUserInput("Clients can answer only calls of tools of type webhook_client")
    const now = clock.now()
    if (call.status === "success") throw new BadUserInput("This tool call has been answered already")
    if (call.status === "error" || now > expiryOf(tool, call)) throw new BadUserInput("The answer is too late: the tool call has ended")
    const latencyMs = now.getTime() - call.createdAt.getTime()
    const outcome = { success: true, status: null, latencyMs, body, error: null }
    await record(tx.unit, chat, call, outcome, shownToModel(outcome))
    return call
  })
}

const tooLarge = () =>
  new BadUserInput(`output must be at most ${assistantLimits.toolResponseReadBytes} bytes of JSON`, [
    { path: "output", message: "is too large" },
  ])
