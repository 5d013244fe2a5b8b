import { operation } from "./request-builders.js"
import type { RequestBuilders } from "./requests.js"
import { messageFields, selections } from "./statements.js"

// PostGraphile names the column `id` rowId, because `id` is its global id.
const fields = (names: string[]) => names.join(" ").replace(/\bid\b/, "rowId")
const { chat, message, assistant, folder, tag, media } = selections

const shown = `nodes { ${fields(chat)} lastMessage { ${fields(message)} } assistantByCompanyIdAndAssistantId { ${fields(assistant)} }
  chatFolderByCompanyIdAndFolderId { ${fields(folder)} }
  chatTaggingsByCompanyIdAndChatId { nodes { chatTagByCompanyIdAndTagId { ${fields(tag)} } } } } pageInfo { hasNextPage endCursor }`

const latest = `query ($company: UUID!, $after: Cursor) { allChats(first: 50, after: $after, condition: { companyId: $company },
  orderBy: [RECENCY_DESC, ROW_ID_DESC]) { ${shown} } }`
const filtered = `query ($company: UUID!, $messenger: String!, $tags: [UUID!]!) {
  benchFilteredChats(inCompany: $company, inMessenger: $messenger, inTags: $tags, first: 50) { ${shown} totalCount } }`
const found = `query ($company: UUID!, $term: String!) { benchFoundChats(inCompany: $company, inTerm: $term, first: 50) { ${shown} } }`
const messages = `query ($chatId: UUID!) { allMessages(first: 30, condition: { chatId: $chatId }, orderBy: [SEQUENCE_DESC]) {
  nodes { ${fields(message)} replyTo { ${fields(message)} }
  messageMediasByCompanyIdAndMessageId(orderBy: [POSITION_ASC]) { nodes { mediaByCompanyIdAndMediaId { ${fields(media)} } } } } } }`
const postMessage = `mutation ($input: BenchPostMessageInput!) { benchPostMessage(input: $input) { result { ${fields(messageFields)} } } }`

/** PostGraphile: the lists that it derives from the tables, and the functions of the schema `bench`. */
export const postgraphileRequests: RequestBuilders = {
  W1: operation(latest, ({ companyId }) => ({ company: companyId })),
  W6: operation(latest, ({ companyId, cursor }) => ({ company: companyId, after: cursor })),
  W2: operation(messages, ({ chatId }) => ({ chatId })),
  W3: operation(filtered, ({ companyId, messenger, tagIds }) => ({ company: companyId, messenger, tags: tagIds })),
  W4: operation(found, ({ companyId, term }) => ({ company: companyId, term })),
  W5: operation(postMessage, ({ chatId, text }) => ({ input: { inChat: chatId, inText: text } })),
}
