import { belongsTo, computed, readModel } from "../database/read-model.js"
import { Stretch } from "../entities/stretch.js"
import { assistantReadModel } from "./assistant.js"
import { chatReadModel } from "./chat.js"
import { userReadModel } from "./company.js"
import { connectionOf } from "./kit/page.js"

/** The median, rounded; of an even number of times the mean of the middle two. Null without a time. */
function median(times: number[]): number | null {
  const sorted = [...times].sort((one, other) => one - other)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2)
}

export const stretchReadModel = readModel("Stretch", {
  chat: belongsTo(() => chatReadModel, "chatId"),
  assistant: belongsTo(() => assistantReadModel, "assistantId"),
  person: belongsTo(() => userReadModel, "personId"),
  messages: computed(["customerMessages", "assistantMessages", "userMessages"], (row) => ({
    customer: row.customerMessages,
    assistant: row.assistantMessages,
    user: row.userMessages,
  })),
  firstAnswerMs: computed(["aiAnswerMs", "peopleAnswerMs"], ({ aiAnswerMs, peopleAnswerMs }) => ({
    ai: aiAnswerMs![0] ?? null,
    people: peopleAnswerMs![0] ?? null,
  })),
  medianAnswerMs: computed(["aiAnswerMs", "peopleAnswerMs"], ({ aiAnswerMs, peopleAnswerMs }) => ({
    ai: median(aiAnswerMs!),
    people: median(peopleAnswerMs!),
  })),
})

export const StretchConnection = connectionOf(Stretch, { one: "A stretch", many: "stretches" })
