import { ModelFailure, type TextModel } from "../ports/text-model.js"
import type { Metrics } from "./metrics.js"
import { traced } from "./tracing.js"

/** Wraps a text model so that its calls are measured and traced. */
export function observedModel(model: TextModel, metrics: Metrics): TextModel {
  const { id, name, provider } = model
  return {
    id,
    name,
    provider,
    answer: (request) =>
      traced("model", { "gen_ai.request.model": name, "gen_ai.provider.name": provider }, async () => {
        const end = metrics.modelCalls.startTimer({ model: name })
        try {
          const answer = await model.answer(request)
          end({ outcome: "OK" })
          metrics.modelTokens.inc({ model: name, direction: "input" }, answer.usage.inputTokens ?? 0)
          metrics.modelTokens.inc({ model: name, direction: "output" }, answer.usage.outputTokens ?? 0)
          return answer
        } catch (error) {
          end({ outcome: error instanceof ModelFailure ? "failed" : "error" })
          throw error
        }
      }),
  }
}
