import type { ChannelAdapter } from "../channel.js"
import { stringOf } from "../kit/untrusted-json.js"
import { portLimits } from "../limits.js"
import type { MetaOptions } from "./meta.js"
import { metaMessaging } from "./meta-messaging.js"

const { metaImageBytes, metaFileBytes, metaWindowHours, metaPersonWindowHours, metaPerSecond, messengerText } = portLimits

/** Facebook Messenger: the chats of a page. */
export function messenger(options: MetaOptions): ChannelAdapter {
  return metaMessaging(options, {
    object: "page",
    capabilities: {
      replies: "text",
      mediaBytes: { image: metaImageBytes, video: metaFileBytes, audio: metaFileBytes, document: metaFileBytes },
      captionLength: 0,
      textLength: messengerText,
      textUnit: "utf16",
      windowHours: metaWindowHours,
      personWindowHours: metaPersonWindowHours,
      typing: true,
      receipts: ["delivered", "read"],
      perSecond: metaPerSecond,
      doubt: "wait",
    },
    profileFields: "name",
    uploadFields: {},
    hasMetadata: true,
    accountFields: "",
    accountIdIn: (page) => stringOf(page["id"]),
  })
}
