import { upperSnake } from "../src/entities/kit/words.js"
import { chatRoutes } from "../src/rest/chat.js"
import type { Route } from "../src/rest/kit/routes.js"
import { messageRoutes } from "../src/rest/message.js"
import { get, operation, post } from "./request-builders.js"
import type { RequestBuilders, RequestParameters } from "./requests.js"
import { messageFields, selections } from "./statements.js"

const key = ({ token }: RequestParameters) => ({ "X-Access-Token": token })
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

const chats = ({ size, cursor }: RequestParameters) => ({ first: size ?? 50, after: cursor })
const ofChat = ({ chatId, size, cursor }: RequestParameters) => ({ chatId, first: size ?? 30, after: cursor })
const draft = ({ chatId, text }: RequestParameters) => ({ input: { chatId, text } })

/** Our server over GraphQL, with the fields that every contestant returns. */
export const ourRequests: RequestBuilders = {
  W1: operation(latest, chats, key),
  W6: operation(latest, chats, key),
  W2: operation(messages, ofChat, key),
  W3: operation(
    filtered,
    (parameters) => ({ ...chats(parameters), messenger: upperSnake(parameters.messenger), tagIds: parameters.tagIds }),
    key,
  ),
  W4: operation(found, (parameters) => ({ ...chats(parameters), term: parameters.term }), key),
  W5: operation(createMessage, draft, key),
}

const operationOf = (routes: Route[], method: string, path: string) =>
  routes.find((route) => route.method === method && route.path === path)!.document

const listChats = operationOf(chatRoutes, "GET", "/api/chats")
const listMessages = operationOf(messageRoutes, "GET", "/api/messages")
const postMessage = operationOf(messageRoutes, "POST", "/api/messages")

const included = { withLastMessage: true, withAssistant: true, withManager: false }
const tagFilter = ({ tagIds }: RequestParameters) => `tagIds:in:${tagIds.join(",")}`
const restChats = (parameters: RequestParameters) => ({ ...chats(parameters), ...included, withTotal: false })

/** Our server over GraphQL, with the operation of the REST route. */
export const ourRequestsAsRest: RequestBuilders = {
  W1: operation(listChats, restChats, key),
  W6: operation(listChats, restChats, key),
  W2: operation(listMessages, (parameters) => ({ ...ofChat(parameters), withTotal: false }), key),
  W3: operation(
    listChats,
    (parameters) => ({
      ...restChats(parameters),
      withTotal: true,
      unread: true,
      messenger: upperSnake(parameters.messenger),
      filter: tagFilter(parameters),
    }),
    key,
  ),
  W4: operation(listChats, (parameters) => ({ ...restChats(parameters), search: parameters.term }), key),
  W5: operation(postMessage, draft, key),
}

const paged = ({ cursor, size }: RequestParameters, standard: number) => `take=${size ?? standard}${cursor ? `&cursor=${cursor}` : ""}`
const chatList = (parameters: RequestParameters, more: string) =>
  get(`/api/chats?${paged(parameters, 50)}&include=lastMessage,assistant&${more}`, key(parameters))

/** Our server over REST. */
export const ourRestRequests: RequestBuilders = {
  W1: (parameters) => chatList(parameters, "withCount=false"),
  W6: (parameters) => chatList(parameters, "withCount=false"),
  W2: (parameters) => get(`/api/messages?chatId=${parameters.chatId}&${paged(parameters, 30)}&withCount=false`, key(parameters)),
  W3: (parameters) => chatList(parameters, `unread=true&messenger=${parameters.messenger}&filter=${tagFilter(parameters)}`),
  W4: (parameters) => chatList(parameters, `withCount=false&search=${encodeURIComponent(parameters.term)}`),
  W5: (parameters) => post("/api/messages", draft(parameters).input, key(parameters)),
}
