import { routes } from "./kit/routes.js"

export const stretchRoutes = routes("Outcomes", {
  "GET /api/stretches": {
    summary: "Lists stretches of chats, those that started last first.",
    document: `query ($companyId: UUID, $chatId: UUID, $from: DateTime, $to: DateTime, $filter: String, $first: Int, $after: String,
      $withTotal: Boolean = true) {
      stretches(companyId: $companyId, chatId: $chatId, from: $from, to: $to, filter: $filter, first: $first, after: $after) {
        nodes { ...Stretch } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    page: "connection",
    csv: "nodes",
    errorStatuses: [400, 403],
  },
  "POST /api/chats/{id}/end-stretch": {
    summary: "Ends the open stretch of a chat; returns its last stretch.",
    document: "mutation ($id: UUID!) { endStretch(chatId: $id) { ...Stretch } }",
    errorStatuses: [400, 404],
  },
})
