/** Numbers of the chat widget in the browser. Times end in their unit; all are ours, except the length of a message. */
export const widgetLimits = {
  /** Longest message, in UTF-16 units: never more code points than the server takes. */
  messageCharacters: 16_000,
  /** Longest text with a rating, in UTF-16 units: never more code points than the server takes. */
  ratingCharacters: 2_000,
  /** Time for a request; afterwards it is sent again. */
  requestMs: 20_000,
  /** The same for the upload of a file. */
  uploadMs: 180_000,
  /** Longest time that the server may ask to wait for; a message or a file that must wait longer is refused. */
  longestWaitMs: 120_000,
  /** Pause before the first retry of a request or a socket; it doubles with each failure … */
  retryBaseMs: 500,
  /** … up to this. */
  retryMaxMs: 30_000,
  /** Interval of pings on a quiet socket; one without an answer within as long closes it. */
  keepAliveMs: 15_000,
  /** Largest picture that is shown in the chat, in bytes; a larger one is a link … */
  pictureBytes: 5_000_000,
  /** … and the longer side of what is shown, in pixels: sharp at twice its size in the layout. */
  picturePixels: 640,
  /** Changes of who answers that the browser keeps; they are shown again when the page is loaded again. */
  keptChanges: 20,
  /** How long "is typing" is shown without a sign of the assistant. */
  typingMs: 60_000,
}
