import type { World } from "../kit/world.js"

/** A guardrail hit as REST shows it. */
export interface Hit {
  id: string
  rule: string
  direction: string
  action: string
  reason: string
  excerpt: string | null
  messageId: string | null
  chatId: string | null
  callId: string | null
  assistantId: string | null
}

/** Requests about the guardrails of Acme's assistants. */
export function guardrails({ acme, rest }: World) {
  const as = () => rest.as(acme.token)
  return {
    /** An assistant with guardrails. */
    async guarded(settings: object, fields: object = {}): Promise<{ id: string }> {
      const assistant = await acme.makeAssistant({ name: "Guarded", ...fields })
      await as().put(`/api/assistants/${assistant.id}/guardrails`, settings).expect(200)
      return assistant
    },
    /** The hits in a chat, oldest first. */
    async hitsOf(chat: { id: string }): Promise<Hit[]> {
      return (await as().get(`/api/guardrail-hits?take=100&filter=chatId:eq:${chat.id}`).expect(200)).body.data.reverse()
    },
    /** The messages of a chat, oldest first. */
    messagesOf: async (chat: { id: string }) =>
      (await as().get(`/api/messages?chatId=${chat.id}&take=100`).expect(200)).body.data.reverse(),
  }
}
