import { words } from "./words.js"

/** Why a delivery failed, as a reason that clients can act on. */
export const DeliveryErrorCodeEnum = words("DeliveryErrorCode", "Why a delivery failed.", {
  WINDOW_CLOSED: "The channel allows messages only for some time after the customer's last one; send a template where there are any.",
  RECIPIENT_UNREACHABLE: "The customer cannot be reached: blocked, deactivated or unknown.",
  CONTENT_REFUSED: "The channel does not take the text or the file.",
  CREDENTIALS_REFUSED: "The channel refuses the credentials of the connection.",
  RATE_LIMITED: "The channel took no more messages until the delivery expired.",
  CHANNEL_UNAVAILABLE: "The channel did not answer until the delivery expired.",
  NOT_CONNECTED: "The company has no active connection for the chat.",
  EXPIRED: "The message waited too long.",
  REFUSED: "Any other refusal of the channel.",
})
export type DeliveryErrorCode = (typeof DeliveryErrorCodeEnum)[string]
