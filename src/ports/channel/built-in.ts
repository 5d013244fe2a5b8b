import type { Capabilities } from "../channel.js"
import { portLimits } from "../limits.js"

/** Largest upload of this server, which is what its own clients can show. */
const largest = portLimits.eventFileBytes

/** What the widget and the playground can do: their clients read messages as events. */
export const eventCapabilities: Capabilities = {
  replies: "any",
  mediaBytes: { image: largest, video: largest, audio: largest, document: largest },
  captionLength: portLimits.bridgeText,
  textLength: portLimits.bridgeText,
  textUnit: "code points",
  windowHours: null,
  typing: true,
  receipts: [],
  perSecond: null,
  doubt: "same",
}
