import { routes } from "./kit/routes.js"
import { callSummary } from "./resources.js"

export const callRoutes = routes("Calls", {
  "POST /api/assistants/{id}/originate": {
    summary: "Accepts a call of an assistant to a customer; it is dialed when a line is free.",
    document: `mutation ($id: UUID!, $input: OriginateCallInput!) { originateCall(assistantId: $id, input: $input) { success workflowId } }`,
    body: "input",
    idempotent: true,
    status: 200,
    errorStatuses: [400, 403, 404],
  },
  "GET /api/calls-history": {
    summary: "Lists calls, newest first.",
    document: `query ($companyId: UUID, $filter: String, $search: String, $phone: PhoneNumber, $assistantId: UUID, $sortBy: CallSort,
      $sortOrder: SortOrder, $skip: Int, $take: Int) {
      calls(companyId: $companyId, filter: $filter, search: $search, phone: $phone, assistantId: $assistantId, sortBy: $sortBy,
        sortOrder: $sortOrder, skip: $skip, take: $take) { nodes { ${callSummary} } totalCount } }`,
    page: "offset",
    errorStatuses: [400, 403],
  },
  "GET /api/calls-history/{id}": {
    summary: "Returns a call with its replies.",
    document: `query ($id: UUID!) { call(id: $id) { ...Call } }`,
    errorStatuses: [404],
  },
})
