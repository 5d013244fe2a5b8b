import { routes } from "./kit/routes.js"

export const guardrailRoutes = routes("Guardrails", {
  "GET /api/guardrail-hits": {
    summary: "Lists texts that guardrails hit, newest first.",
    document: `query ($companyId: UUID, $from: DateTime, $to: DateTime, $filter: String, $first: Int, $after: String, $withTotal: Boolean = true) {
      guardrailHits(companyId: $companyId, from: $from, to: $to, filter: $filter, first: $first, after: $after) {
        nodes { ...GuardrailHit } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    page: "connection",
    errorStatuses: [400, 403],
  },
  "GET /api/assistants/{assistantId}/guardrails": {
    summary: "Returns the guardrails of an assistant.",
    document: "query ($assistantId: UUID!) { assistant(id: $assistantId) { guardrails { ...GuardrailSettings } } }",
    field: "guardrails",
    errorStatuses: [404],
  },
  "PUT /api/assistants/{assistantId}/guardrails": {
    summary: "Replaces the guardrails of an assistant; a rule that is absent is off.",
    document: `mutation ($assistantId: UUID!, $guardrails: GuardrailSettingsInput!) {
      setAssistantGuardrails(assistantId: $assistantId, guardrails: $guardrails) { guardrails { ...GuardrailSettings } } }`,
    body: "guardrails",
    field: "guardrails",
    errorStatuses: [400, 404],
  },
})
