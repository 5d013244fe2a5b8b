import { routes } from "./kit/routes.js"

export const unansweredQuestionRoutes = routes("Outcomes", {
  "GET /api/unanswered-questions": {
    summary: "Lists questions to which the search of the knowledge found nothing, those that were asked most often first.",
    document: `query ($companyId: UUID, $assistantId: UUID, $from: DateTime, $to: DateTime, $state: UnansweredQuestionState, $first: Int, $after: String, $withTotal: Boolean = true) {
      unansweredQuestions(companyId: $companyId, assistantId: $assistantId, from: $from, to: $to, state: $state, first: $first, after: $after) {
        nodes { ...UnansweredQuestion } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    page: "connection",
    csv: "nodes",
    errorStatuses: [400, 403],
  },
  "POST /api/unanswered-questions/{id}/close": {
    summary: "Takes an unanswered question off the list.",
    document: "mutation ($id: UUID!) { closeUnansweredQuestion(id: $id) { closed } }",
    errorStatuses: [400, 404],
  },
  "POST /api/unanswered-questions/{id}/reopen": {
    summary: "Puts an unanswered question that was closed back on the list.",
    document: "mutation ($id: UUID!) { reopenUnansweredQuestion(id: $id) { reopened } }",
    errorStatuses: [400, 404],
  },
})
