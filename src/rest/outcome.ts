import { routes } from "./kit/routes.js"

const numbers = `stretches aiAlone aiThenPerson personAlone unanswered reopened handedOff containment durableContainment handOffRate
  firstAnswerMs { ai { p50 p95 } people { p50 p95 } } ratings rating inputTokens outputTokens`
const compared = `current { ${numbers} } before { ${numbers} }`

export const outcomeRoutes = routes("Outcomes", {
  "GET /api/outcomes": {
    summary: "Reports on stretches of chats that started in a period, compared with the period before.",
    document: `query ($companyId: UUID, $from: DateTime, $to: DateTime, $by: OutcomeGroupBy, $filter: String, $timeZone: String) {
      outcomes(companyId: $companyId, from: $from, to: $to, by: $by, filter: $filter, timeZone: $timeZone) {
        from to before timeZone by total { ${compared} } groups { key name from to ${compared} } } }`,
    csv: "groups",
    errorStatuses: [400, 403],
  },
})
