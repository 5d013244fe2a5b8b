import { routes } from "./kit/routes.js"

export const companyRoutes = routes("Companies", {
  "GET /api/companies/my": {
    summary: "Lists the companies of the user; with an access token, only its company.",
    document: `query { myCompanies { ...Company } }`,
  },
  "GET /api/companies/{id}": {
    summary: "Returns a company with its members and subscriptions.",
    document: `query ($id: UUID!) { company(id: $id) { ...Company } }`,
    errorStatuses: [404],
  },
})
