/** Normalizes a text: composed letters, no control characters or unpaired surrogates, uniform line ends, single empty lines. */
export const tidy = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\t\n]|\p{Cs}|[\ufeff\u00ad\u200b]/gu, "")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
