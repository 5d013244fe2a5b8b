/** GraphQL operations of the chat widget. The server reads them too, so that they run when it accepts trusted documents only. */

const fields = "id sequence role text createdAt externalId messageMedia { media { id filename mimeType size url } }"

/** A page of the visitor's chat, newest first. */
export const messagesQuery = `query WidgetMessages($chatId: UUID!, $after: String) {
  messages(chatId: $chatId, first: 30, after: $after) { pageInfo { hasNextPage endCursor } nodes { ${fields} } }
}`

/** Where the log of events ends: what happens afterwards comes to a subscription with it as `after`. */
export const cursorQuery = "query WidgetCursor { eventCursor }"

/** New and changed messages of the visitor's chat, who answers in it, and that a stretch of it has ended. */
export const eventsSubscription = `subscription WidgetEvents($chatId: UUID!, $after: String) {
  events(chatId: $chatId, after: $after, types: [MESSAGE_CREATED, MESSAGE_UPDATED, CHAT_MODE_CHANGED, STRETCH_ENDED]) { id type payload message { ${fields} } }
}`

/** Whether the assistant is writing in the visitor's chat. */
export const typingSubscription = `subscription WidgetTyping($chatId: UUID!) {
  answerProgress(chatId: $chatId) { done }
}`

/** Uploads a file of the visitor; a repetition with the same key uploads it once. */
export const uploadMutation = `mutation WidgetUpload($file: Upload!, $key: String!) {
  uploadMedia(file: $file, idempotencyKey: $key) { id }
}`

/** What the visitor is asked about the chat that has ended, and the answer. */
export const ratingQuery = `query WidgetRating($chatId: UUID!) {
  ratingRequest(chatId: $chatId) { stretchId question rating text }
}`

/** Rates the chat that has ended. */
export const rateMutation = `mutation WidgetRate($id: UUID!, $rating: Int!, $text: String) {
  rateStretch(id: $id, rating: $rating, text: $text) { rating text }
}`

/** All operations of the widget. */
export const widgetOperations = [
  messagesQuery,
  cursorQuery,
  eventsSubscription,
  typingSubscription,
  uploadMutation,
  ratingQuery,
  rateMutation,
]
