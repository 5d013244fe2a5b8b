import { routes } from "./kit/routes.js"

export const companyRoutes = routes("Companies", {
  "GET /api/companies/my": {
    does: "Lists the companies of the user; with an access token, only its company.",
    run: `query { myCompanies { ...Company } }`,
  },
  "GET /api/companies/{id}": {
    does: "Returns a company with its members and subscriptions.",
    run: `query ($id: UUID!) { company(id: $id) { ...Company } }`,
    fails: [404],
  },
})
