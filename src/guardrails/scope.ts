import type { ScopeAnswer, ScopeQuestion, TextModel } from "../ports/text-model.js"

/** A model that can judge whether a text is out of scope. */
export type ScopeJudge = (question: ScopeQuestion) => Promise<ScopeAnswer>

/** The model that judges: that of the assistant where it can, else the first that can; null when this server has none. */
export function scopeJudge(models: readonly TextModel[], preferred: TextModel | null): ScopeJudge | null {
  const model = [...(preferred ? [preferred] : []), ...models].find(({ isOutOfScope }) => isOutOfScope)
  return model?.isOutOfScope ?? null
}
