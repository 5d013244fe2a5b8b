import { deliver } from "../../src/jobs/deliver.js"
import { indexKnowledge } from "../../src/jobs/index-knowledge.js"
import { eventWebhooks } from "./event-webhooks.js"
import { samples, upload } from "./files.js"
import { receiver } from "./receiver.js"
import { endOfLog, subscribe } from "./sockets.js"
import type { World } from "./world.js"

/**
 * Statements of the stories that read tables of companies without the company, by their names or by how they begin.
 * docs/decisions/sharding.md says of each why, and how it changes when the tables are distributed.
 */
export const withoutTheCompany: Record<string, RegExp> = {
  "tokens-by-digest": /^tokens-by-digest$/,
  "touch-token": /^touch-token$/,
  "session-with-memberships": /^session-with-memberships$/,
  "sockets-changed": /^sockets-changed$/,
  "connection-by-id, connection-of-visitor": /^connection-(?:by-id|of-visitor)$/,
  "the sequencer": /^with batch as \(\s*select id, row_number\(\) over \(order by id\)/,
  "events-after": /^events-after$/,
  "any-event-webhook": /^any-event-webhook$/,
  "the fan-out": /^with start as \(\s*select greatest\(reader\.position/,
  "due-NAME, counts-NAME, renew-lease-NAME": /^(?:due|counts|renew-lease)-(?!event-deliveries)/,
  "clear-NAME, end-lost-tool-calls, quiet-chats, end-quiet-stretches, chats-without-stretches, due-rating-requests, ungrouped-questions, companies-with-NAME, stale-embedding-model":
    /^(?:clear-|end-lost-tool-calls$|quiet-chats$|end-quiet-stretches$|chats-without-stretches$|due-rating-requests$|ungrouped-questions$|companies-with-|stale-embedding-model$)/,
  "claim-turns, claim-deliveries": /^claim-(?:turns|deliveries)$/,
  "due-event-deliveries, next-due-event-delivery":
    /^(?:due-event-deliveries|next-due-event-delivery|select \(extract\(epoch from d\.due_at\))/,
  "forget-NAME": /^(?:forget-\w|delete from event where id in|update event_delivery set snapshot = null)/,
  "the filter of chats by tags": /exists \(select 1 from chat_tagging g where g\.chat_id = t\.id/,
  "changes and deletions by the ORM": /^(?:update|delete from) "\w+" .*where (?:"\w+"\.)?"id" (?:=|in) /s,
}

/** Requests of users, a customer's message with its answer, and the work that follows, as far as the scheduler does not start it. */
export async function companyStories(w: World) {
  const { acme, rest, gql } = w
  const endpoint = await receiver()
  const hooks = eventWebhooks(w)
  const hook = await hooks.create(endpoint)
  const after = await endOfLog(w)
  const me = rest.as(acme.token)
  const widget = `/hooks/widget/${acme.widget.id}`
  const { visitorToken } = (await rest.as({}).post(widget, { text: "When are you open?" }).expect(201)).body
  await w.runDue()
  await rest.as({}).post(widget, { text: "And on Sunday?", visitorToken }).expect(201)
  await w.runDue()

  const file = (await upload(w, acme.token, samples.png, "dot.png").expect(201)).body
  const [chat, folder, tag, tool] = [
    await acme.chat({ assistantId: acme.assistant.id }),
    await acme.folder(),
    await acme.tag(),
    await acme.tool(),
  ]
  const knowledge = await acme.makeKnowledge()
  await indexKnowledge.sweep.run(w.services)
  await w.services.running.idle()
  const at = `/api/chats/${chat.id}`
  await acme.message({ chatId: chat.id })
  await acme.message({ chatId: chat.id, text: "Look", mediaIds: [file.id] })
  await acme.message({ chatId: chat.id, text: "Hello", role: "Customer" })
  await me.patch(`${at}/ai-control`, { isUnderAiControl: false }).expect(200)
  await me.patch(`${at}/ai-control`, { isUnderAiControl: true }).expect(200)
  await me.patch(`${at}/folder`, { folderId: folder.id }).expect(200)
  await me.put(`${at}/tags`, { tagIds: [tag.id] }).expect(200)
  await me.post(`${at}/meta/labels`, { label: "urgent" }).expect(201)
  await me.delete(`${at}/meta/labels/urgent`).expect(200)
  await me.post(`${at}/read`, {}).expect(201)
  await me.patch(at, { name: "Ann" }).expect(200)
  for (const path of [
    ...[
      "/api/chats",
      `/api/chats?folderId=${folder.id}&search=Ann`,
      `/api/chats?filter=tagIds:in:${tag.id}`,
      at,
      "/api/chats/messengers",
      `/api/messages?chatId=${chat.id}`,
    ],
    ...["/api/chat-folders", "/api/chat-tags", "/api/assistants-new", `/api/assistants-new/${acme.assistant.id}`, "/api/calls-history"],
    ...[
      "/api/assistant-tools-new",
      `/api/assistant-tools-new/${tool.id}/logs`,
      `/api/assistant-knowledge-new?assistantId=${acme.assistant.id}`,
    ],
    ...["/api/event-webhooks", `/api/event-webhooks/${hook.id}/deliveries`, "/api/companies/my"],
  ])
    await me.get(path).expect(200)
  const nested = "{ chats { nodes { lastMessage { text } tags { name } folder { name } assistant { name } } totalCount } }"
  expect((await gql(acme.owner.jwt, nested)).errors).toBeUndefined()
  await me.post("/api/assistant-knowledge-new/query", { assistantId: acme.assistant.id, query: "open" }).expect(201)

  const heard = await subscribe(w, acme.token, { after })
  await heard.take(3)
  await heard.stop()
  await hooks.send()
  await deliver.sweep.run(w.services)
  await w.services.running.idle()
  await me.delete(`/api/chat-tags/${tag.id}`).expect(200)
  await me.delete(`/api/assistant-knowledge-new/${knowledge.id}`).expect(200)
  await me.delete(at).expect(200)
  await endpoint.close()
}
