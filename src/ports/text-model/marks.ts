/** Names of the marks between which a remote model receives text of others; the prompt explains them. */
export type Mark = "customer" | "answer" | "result" | "knowledge" | "item"

// A bracket that would open or close a mark, also one that only looks like it, or has invisible characters behind it.
const forged = /[<＜﹤](?=[\s/\p{Cf}]*(?:customer|answer|result|knowledge|item)\b)/giu
// Unicode's tag characters: people do not see them, models read them.
const invisible = /[\u{E0000}-\u{E007F}]/gu

/** Removes what could end a mark or begin another one, and text that only a model sees; everything else is unchanged. */
export const unmarked = (text: string): string => text.replace(invisible, "").replace(forged, "‹")

/** Puts text of others between marks, which it cannot contain. The same text always gives the same result, so that vendors can cache requests. */
export const marked = (mark: Mark, text: string): string => `<${mark}>${unmarked(text)}</${mark}>`
