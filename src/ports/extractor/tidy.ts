/** A text as it is kept: composed letters, no control characters and halves of letters, lines that end alike, and no more than one empty line at a time. */
export const tidy = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\t\n]|\p{Cs}|[\ufeff\u00ad\u200b]/gu, "")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
