import { type ModelAnswer, ModelFailure, type TextModel } from "../ports/text-model.js"
import type { Metrics } from "./metrics.js"
import { traced } from "./tracing.js"

/** Wraps a text model so that its calls are measured and traced. */
export function observedModel(model: TextModel, metrics: Metrics): TextModel {
  const { id, name, provider } = model
  const observed = <A extends { usage: ModelAnswer["usage"] }>({ signal }: { signal: AbortSignal }, ask: () => Promise<A>): Promise<A> =>
    traced("model", { "gen_ai.request.model": name, "gen_ai.provider.name": provider }, async () => {
      const end = metrics.modelCalls.startTimer({ model: name })
      try {
        const answer = await ask()
        end({ outcome: "OK" })
        metrics.modelTokens.inc({ model: name, direction: "input" }, answer.usage.inputTokens ?? 0)
        metrics.modelTokens.inc({ model: name, direction: "output" }, answer.usage.outputTokens ?? 0)
        return answer
      } catch (error) {
        // A person took the chat over, the customer wrote again, or the server stops: that is no failure of the vendor.
        end({ outcome: signal.aborted ? "aborted" : error instanceof ModelFailure ? "failed" : "error" })
        throw error
      }
    })
  const { isOutOfScope } = model
  return {
    id,
    name,
    provider,
    answer: (request) => observed(request, () => model.answer(request)),
    ...(isOutOfScope && { isOutOfScope: (question) => observed(question, () => isOutOfScope(question)) }),
  }
}
