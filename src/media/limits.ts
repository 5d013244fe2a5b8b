/** Limits that media/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const mediaLimits = {
  /** Longest file name; ours, as of most file systems. */
  filename: 255,
  /** Life of a signed media url in an answer. */
  mediaUrlSeconds: 60 * 60,
} as const
