import type { RequestContext } from "../context/request-context.js"
import type { ChannelCapabilities, Messenger } from "../entities/channel.js"
import { type Capabilities, mediaKinds } from "../ports/channel.js"

/** What a messenger can do, as clients see it. */
export function shownCapabilities(context: RequestContext, messenger: Messenger): ChannelCapabilities {
  const { replies, mediaBytes, captionLength, textLength, windowHours, typing, receipts }: Capabilities =
    context.services.channels.capabilities(messenger)
  return {
    replies: replies !== "none",
    repliesWithMedia: replies === "any",
    mediaKinds: mediaKinds.filter((kind) => mediaBytes[kind] !== undefined),
    captions: captionLength > 0,
    textLength,
    windowHours,
    typing,
    receipts: [...receipts],
  }
}
