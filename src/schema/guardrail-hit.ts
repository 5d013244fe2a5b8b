import { belongsTo, readModel } from "../database/read-model.js"
import { GuardrailHit } from "../entities/guardrail-hit.js"
import { assistantReadModel } from "./assistant.js"
import { chatReadModel } from "./chat.js"
import { connectionOf } from "./kit/page.js"
import { messageReadModel } from "./message.js"

export const guardrailHitReadModel = readModel("GuardrailHit", {
  chat: belongsTo(() => chatReadModel, "chatId"),
  message: belongsTo(() => messageReadModel, "messageId"),
  assistant: belongsTo(() => assistantReadModel, "assistantId"),
})

export const GuardrailHitConnection = connectionOf(GuardrailHit, { one: "A hit", many: "guardrail hits" })
