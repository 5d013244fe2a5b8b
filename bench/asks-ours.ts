import { upperSnake } from "../src/entities/kit/words.js"
import { chatRoutes } from "../src/rest/chat.js"
import type { Route } from "../src/rest/kit/routes.js"
import { messageRoutes } from "../src/rest/message.js"
import { get, operation, post } from "./asks.js"
import type { Asks, Matter } from "./requests.js"
import { messageFields, selections } from "./statements.js"

const key = ({ token }: Matter) => ({ "X-Access-Token": token })
const fields = (names: string[]) => names.join(" ")
const { chat, message, assistant, folder, tag, media } = selections

const chatPage = (declared: string, given: string, total = "") => `query ($first: Int, $after: String${declared}) {
  chats(first: $first, after: $after${given}) { nodes { ${fields(chat)} lastMessage { ${fields(message)} } assistant { ${fields(assistant)} }
  folder { ${fields(folder)} } tags { ${fields(tag)} } } pageInfo { hasNextPage endCursor } ${total} } }`

const latest = chatPage("", "")
const filtered = chatPage(
  ", $messenger: Messenger, $tagIds: [UUID!]",
  ", unread: true, messenger: $messenger, where: { tagIds: { in: $tagIds } }",
  "totalCount",
)
const found = chatPage(", $term: String", ", search: $term")
const messages = `query ($chatId: UUID!, $first: Int, $after: String) { messages(chatId: $chatId, first: $first, after: $after) {
  nodes { ${fields(message)} replyTo { ${fields(message)} } messageMedia { media { ${fields(media)} } } } pageInfo { hasNextPage endCursor } } }`
const createMessage = `mutation ($input: CreateMessageInput!) { createMessage(input: $input) {
  ${fields(messageFields).replace("sources", "sources { knowledgeId knowledgeName chunkId }")} } }`

const chats = ({ size, cursor }: Matter) => ({ first: size ?? 50, after: cursor })
const ofChat = ({ chatId, size, cursor }: Matter) => ({ chatId, first: size ?? 30, after: cursor })
const draft = ({ chatId, text }: Matter) => ({ input: { chatId, text } })

/** Ours over GraphQL, with the fields that every contestant answers. */
export const asksOurs: Asks = {
  W1: operation(latest, chats, key),
  W6: operation(latest, chats, key),
  W2: operation(messages, ofChat, key),
  W3: operation(filtered, (matter) => ({ ...chats(matter), messenger: upperSnake(matter.messenger), tagIds: matter.tagIds }), key),
  W4: operation(found, (matter) => ({ ...chats(matter), term: matter.term }), key),
  W5: operation(createMessage, draft, key),
}

const operationOf = (routes: Route[], method: string, path: string) =>
  routes.find((route) => route.method === method && route.path === path)!.run

const listChats = operationOf(chatRoutes, "GET", "/api/chats")
const listMessages = operationOf(messageRoutes, "GET", "/api/messages")
const postMessage = operationOf(messageRoutes, "POST", "/api/messages")

const included = { withLastMessage: true, withAssistant: true, withManager: false }
const tagFilter = ({ tagIds }: Matter) => `tagIds:in:${tagIds.join(",")}`
const restChats = (matter: Matter) => ({ ...chats(matter), ...included, withTotal: false })

/** Ours over GraphQL, with the very operation that the REST route runs. */
export const asksOursAsRest: Asks = {
  W1: operation(listChats, restChats, key),
  W6: operation(listChats, restChats, key),
  W2: operation(listMessages, (matter) => ({ ...ofChat(matter), withTotal: false }), key),
  W3: operation(
    listChats,
    (matter) => ({
      ...restChats(matter),
      withTotal: true,
      unread: true,
      messenger: upperSnake(matter.messenger),
      filter: tagFilter(matter),
    }),
    key,
  ),
  W4: operation(listChats, (matter) => ({ ...restChats(matter), search: matter.term }), key),
  W5: operation(postMessage, draft, key),
}

const paged = ({ cursor, size }: Matter, standard: number) => `take=${size ?? standard}${cursor ? `&cursor=${cursor}` : ""}`
const chatList = (matter: Matter, more: string) => get(`/api/chats?${paged(matter, 50)}&include=lastMessage,assistant&${more}`, key(matter))

/** Ours over REST. */
export const asksOursOverRest: Asks = {
  W1: (matter) => chatList(matter, "withCount=false"),
  W6: (matter) => chatList(matter, "withCount=false"),
  W2: (matter) => get(`/api/messages?chatId=${matter.chatId}&${paged(matter, 30)}&withCount=false`, key(matter)),
  W3: (matter) => chatList(matter, `unread=true&messenger=${matter.messenger}&filter=${tagFilter(matter)}`),
  W4: (matter) => chatList(matter, `withCount=false&search=${encodeURIComponent(matter.term)}`),
  W5: (matter) => post("/api/messages", draft(matter).input, key(matter)),
}
