import { routes } from "./kit/routes.js"

export const companyRoutes = routes("Companies", {
  "GET /api/companies/my": {
    does: "The companies of the user; with an access token its company alone.",
    run: `query { myCompanies { ...Company } }`,
  },
  "GET /api/companies/{id}": {
    does: "A company with its members and subscriptions.",
    run: `query ($id: UUID!) { company(id: $id) { ...Company } }`,
    fails: [404],
  },
})
