import { get, post } from "./request-builders.js"
import type { RequestBuilders } from "./requests.js"

/** Requests to the two bare servers, which have the same routes. */
export const limitRequests: RequestBuilders = {
  W1: () => get("/chats"),
  W6: ({ cursor }) => get(`/chats?after=${encodeURIComponent(cursor!)}`),
  W2: ({ chatId }) => get(`/messages?chatId=${chatId}`),
  W3: ({ messenger, tagIds }) => get(`/chats?messenger=${messenger}&tags=${tagIds.join(",")}`),
  W4: ({ term }) => get(`/chats?term=${encodeURIComponent(term)}`),
  W5: ({ chatId, text }) => post("/messages", { chatId, text }),
}
