import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import type { Belongings } from "./routes.js"

let count = 0

/** Valid arguments of each tool, with ids of one company. */
export const argumentsFor = (own: Belongings): Record<string, Record<string, unknown>> => {
  const [chatId, assistantId] = [own["chats"], own["assistants-new"]]
  return {
    search_chats: {
      search: "customer",
      needsAttention: false,
      unread: false,
      isUnderAiControl: true,
      messenger: "playground",
      assistantId,
      managerId: own.company.member.id,
      lastMessageFrom: "2020-01-01",
      lastMessageTo: "2999-12-31",
      companyId: own.company.id,
      first: 5,
      withTotal: true,
    },
    read_chat: { chatId, first: 5 },
    send_message: { chatId, text: `Hello ${++count}`, replyToMessageId: own["messages"] },
    take_over: { chatId },
    give_back: { chatId },
    assign_chat: { chatId, managerId: own.company.admin.id },
    label_chat: { chatId, label: "Rush" },
    comment_chat: { chatId, text: "Call back." },
    search_knowledge: { assistantId, query: "What does a return cost?", take: 3 },
    add_knowledge: { assistantId, name: "Prices", kind: "text", resourceContent: "Everything costs one euro.", isVector: true },
    list_assistants: { q: "e", includeVariants: true, withPrompt: true, companyId: own.company.id, skip: 0, take: 5 },
    update_assistant_prompt: { assistantId, prompt: "You help." },
    list_calls: {
      search: "380",
      phone: "+380441234567",
      assistantId,
      status: "completed",
      from: "2020-01-01",
      to: "2999-12-31",
      withTranscript: true,
      companyId: own.company.id,
      skip: 0,
      take: 5,
    },
    start_call: { assistantId, phoneNumber: "+380 (44) 123-45-67", callerAssistantId: assistantId, dynamicVariables: { name: "Ann" } },
  }
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)

/** What of a value does not fit a JSON Schema, in words; null when it fits. */
export function misfit(schema: object, value: unknown): string | null {
  const fits = ajv.compile(schema)
  return fits(value) ? null : ajv.errorsText(fits.errors)
}
