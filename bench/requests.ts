import type { Workload } from "./options.js"
import { messageFields, selections } from "./statements.js"

/** Who is measured; `ours` and `ours REST` are two doors of one server. */
export const contestants = ["ours", "ours REST", "LIMIT", "PostGraphile"] as const
export type Contestant = (typeof contestants)[number]

/** One HTTP request, as the load generator takes it. */
export interface Request {
  method: "GET" | "POST"
  path: string
  headers: Record<string, string>
  body?: string
}

/** What requests are made of. */
export interface Matter {
  token: string
  companyId: string
  chatId: string
  text: string
  /** Where page 1,000 begins, in the contestant's own words. */
  cursor: string | null
}

type Maker = (matter: Matter) => Request
const jsonType = { "Content-Type": "application/json" }
const get = (path: string, headers = {}): Request => ({ method: "GET", path, headers })
const post = (path: string, body: unknown, headers = {}): Request => ({
  method: "POST",
  path,
  headers: { ...jsonType, ...headers },
  body: JSON.stringify(body),
})
const key = ({ token }: Matter) => ({ "X-Access-Token": token })
const fields = (names: string[]) => names.join(" ")

const { chat, message, assistant, folder, tag } = selections
const ours = {
  createMessage: `mutation ($input: CreateMessageInput!) { createMessage(input: $input) {
    ${fields(messageFields).replace("sources", "sources { knowledgeId knowledgeName chunkId }")} } }`,
  chats: `query ($after: String) { chats(first: 50, after: $after) { nodes { ${fields(chat)} lastMessage { ${fields(message)} }
    assistant { ${fields(assistant)} } folder { ${fields(folder)} } tags { ${fields(tag)} } } pageInfo { hasNextPage endCursor } } }`,
  messages: `query ($chatId: UUID!) { messages(chatId: $chatId, first: 30) { nodes { ${fields(message)} replyTo { ${fields(message)} } } } }`,
}

// PostGraphile calls the column `id` rowId: `id` is its own global one.
const theirs = (names: string[]) => fields(names).replace(/\bid\b/, "rowId")
const postgraphile = {
  createMessage: `mutation ($input: BenchPostMessageInput!) { benchPostMessage(input: $input) { result { ${theirs(messageFields)} } } }`,
  chats: `query ($company: UUID!, $after: Cursor) { allChats(first: 50, after: $after, condition: { companyId: $company },
    orderBy: [RECENCY_DESC, ROW_ID_DESC]) { nodes { ${theirs(chat)} lastMessage { ${theirs(message)} }
    assistantByCompanyIdAndAssistantId { ${theirs(assistant)} } chatFolderByCompanyIdAndFolderId { ${theirs(folder)} }
    chatTaggingsByCompanyIdAndChatId { nodes { chatTagByCompanyIdAndTagId { ${theirs(tag)} } } } } pageInfo { hasNextPage endCursor } } }`,
  messages: `query ($chatId: UUID!) { allMessages(first: 30, condition: { chatId: $chatId }, orderBy: [SEQUENCE_DESC]) {
    nodes { ${theirs(message)} replyTo { ${theirs(message)} } } } }`,
}

const oursOver = (query: string, variables: (matter: Matter) => unknown): Maker => {
  return (matter) => post("/graphql", { query, variables: variables(matter) }, key(matter))
}
const theirsOver = (query: string, variables: (matter: Matter) => unknown): Maker => {
  return (matter) => post("/graphql", { query, variables: variables(matter) })
}
const rest = "/api/chats?take=50&withCount=false&include=lastMessage,assistant"

const makers: Record<Contestant, Record<Workload, Maker>> = {
  ours: {
    W5: oursOver(ours.createMessage, ({ chatId, text }) => ({ input: { chatId, text } })),
    W1: oursOver(ours.chats, () => ({})),
    W2: oursOver(ours.messages, ({ chatId }) => ({ chatId })),
    W6: oursOver(ours.chats, ({ cursor }) => ({ after: cursor })),
  },
  "ours REST": {
    W5: (matter) => post("/api/messages", { chatId: matter.chatId, text: matter.text }, key(matter)),
    W1: (matter) => get(rest, key(matter)),
    W2: (matter) => get(`/api/messages?chatId=${matter.chatId}&take=30`, key(matter)),
    W6: (matter) => get(`${rest}&cursor=${matter.cursor}`, key(matter)),
  },
  LIMIT: {
    W5: ({ chatId, text }) => post("/messages", { chatId, text }),
    W1: () => get("/chats"),
    W2: ({ chatId }) => get(`/messages?chatId=${chatId}`),
    W6: ({ cursor }) => get(`/chats?after=${encodeURIComponent(cursor!)}`),
  },
  PostGraphile: {
    W5: theirsOver(postgraphile.createMessage, ({ chatId, text }) => ({ input: { inChat: chatId, inText: text } })),
    W1: theirsOver(postgraphile.chats, ({ companyId }) => ({ company: companyId })),
    W2: theirsOver(postgraphile.messages, ({ chatId }) => ({ chatId })),
    W6: theirsOver(postgraphile.chats, ({ companyId, cursor }) => ({ company: companyId, after: cursor })),
  },
}

/** A contestant's request for a workload. */
export const requestFor = (contestant: Contestant, workload: Workload, matter: Matter) => makers[contestant][workload](matter)
