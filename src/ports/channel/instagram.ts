import type { ChannelAdapter } from "../channel.js"
import { objectOf, stringOf } from "../kit/untrusted-json.js"
import { portLimits } from "../limits.js"
import type { MetaOptions } from "./meta.js"
import { metaMessaging } from "./meta-messaging.js"

const { metaImageBytes, metaFileBytes, metaWindowHours, metaPersonWindowHours, metaPerSecond, instagramText } = portLimits

/** Files that Instagram takes, by all names of their types. */
const mediaTypes = [
  ...["image/png", "image/jpeg", "image/gif"],
  ...["video/mp4", "video/ogg", "video/vnd.avi", "video/x-msvideo", "video/quicktime", "video/webm"],
  ...["audio/aac", "audio/mp4", "audio/x-m4a", "audio/wav", "audio/vnd.wave"],
  "application/pdf",
]

/** Instagram messaging: the direct messages of a professional account that is linked to a page. */
export function instagram(options: MetaOptions): ChannelAdapter {
  return metaMessaging(options, {
    object: "instagram",
    capabilities: {
      replies: "text",
      mediaBytes: { image: metaImageBytes, video: metaFileBytes, audio: metaFileBytes, document: metaFileBytes },
      mediaTypes,
      captionLength: 0,
      textLength: instagramText,
      textUnit: "bytes",
      windowHours: metaWindowHours,
      personWindowHours: metaPersonWindowHours,
      typing: true,
      receipts: ["read"],
      perSecond: metaPerSecond,
      doubt: "repeat",
    },
    profileFields: "name,username",
    uploadFields: { platform: "instagram" },
    hasMetadata: false,
    accountFields: ",instagram_business_account",
    accountIdIn: (page) => stringOf(objectOf(page["instagram_business_account"])["id"]),
  })
}
