import { deleteCall } from "../calls/delete.js"
import { deleteChat } from "../chats/delete.js"
import { forgetEventsOfDeletedChats } from "../chats/forget.js"
import { type RequestContext, systemContext } from "../context/request-context.js"
import { clock } from "../entities/kit/clock.js"
import { NotFound } from "../errors/errors.js"
import { forgetMedia } from "../jobs/forget-media.js"
import { mediaReadModel } from "../schema/media.js"
import { messageReadModel } from "../schema/message.js"
import { toolCallReadModel } from "../schema/tool-call.js"
import { callsOf, filesOf, ofCustomer, rowsOf } from "./customer.js"
import type { CommandContext } from "./kit.js"
import { commandServices } from "./services.js"

/** Deletes the chats of a customer one by one, each like the mutation deleteChat, and the calls; run again, it completes what an interruption has left. */
export async function eraseCustomer(desk: CommandContext, companyId: string, customer: string): Promise<object> {
  await using stack = new AsyncDisposableStack()
  const services = await commandServices(desk, stack)
  const context = systemContext(services, companyId)
  const startedAt = clock.now()
  const chats: { id: string; messenger: string }[] = []
  const records = { Chat: 0, Message: 0, Call: 0, ToolCall: 0, Media: 0 }
  for await (const page of rowsOf(context.reader, "Chat", {}, { where: ofCustomer(customer) })) {
    for (const { id } of page) {
      const held = await deleteAndCount(context, id)
      if (!held) continue
      await forgetMedia(services, companyId)
      // A file that another chat or a knowledge item uses too is kept.
      const kept = await context.reader.byIds(mediaReadModel, held.files, {})
      chats.push({ id, messenger: held.messenger })
      records.Chat += 1
      records.Message += held.messages
      records.ToolCall += held.toolCalls
      records.Media += held.files.length - kept.size
    }
  }
  for await (const page of rowsOf(context.reader, "Call", {}, { where: callsOf(customer) })) {
    for (const { id } of page) {
      const held = await deleteCall(context, id)
      if (!held) continue
      records.Call += 1
      records.ToolCall += held.toolCalls
      records.Media += held.recordings
    }
  }
  await services.sequencer.poke()
  await forgetEventsOfDeletedChats(context)
  await forgetMedia(services, companyId)
  return { command: "customer:erase", companyId, customer, startedAt, finishedAt: clock.now(), records, chats }
}

interface Held {
  messenger: string
  messages: number
  toolCalls: number
  /** IDs of the files of its messages. */
  files: string[]
}

/** Deletes a chat; returns what it held, null when it was deleted meanwhile. */
async function deleteAndCount(context: RequestContext, id: string): Promise<Held | null> {
  let held: Held | null = null
  try {
    await deleteChat(context, id, async ({ reader }, { messenger }) => {
      const files: string[] = []
      for await (const page of rowsOf(reader, "Media", {}, { where: filesOf([id]) })) files.push(...page.map((file) => file.id))
      const messages = await reader.count(messageReadModel, (query) => query.where("t.chat_id", "=", id))
      const toolCalls = await reader.count(toolCallReadModel, (query) => query.where("t.chat_id", "=", id))
      held = { messenger, messages, toolCalls, files }
    })
  } catch (error) {
    if (!(error instanceof NotFound)) throw error
    return null
  }
  return held
}
