import { routes } from "./kit/routes.js"

export const ratingRoutes = routes("Outcomes", {
  "PUT /api/stretches/{id}/rating": {
    summary: "Stores the customer's rating of an ended stretch, in place of an earlier one.",
    document:
      "mutation ($id: UUID!, $rating: Int!, $text: String) { rateStretch(id: $id, rating: $rating, text: $text) { stretchId rating text } }",
    body: "fields",
    errorStatuses: [400, 404, 409],
  },
  "PUT /api/channels/{id}/rating-question": {
    summary: "Sets what customers of a channel connection are asked when a stretch has ended; null turns that off.",
    document:
      "mutation ($id: UUID!, $question: String) { setRatingQuestion(channelId: $id, question: $question) { ...Channel ratingQuestion } }",
    body: "fields",
    requiredFields: ["question"],
    errorStatuses: [400, 403, 404],
  },
})
