import { routes } from "./kit/routes.js"

const company = `id name members { userId email name role } subscriptions { id plan status startsAt endsAt }
  voiceBalance embeddingCredits voiceLines createdAt updatedAt`

export const companyRoutes = routes("Companies", {
  "GET /api/companies/my": {
    does: "The companies of the user; with an access token its company alone.",
    run: `query { myCompanies { ${company} } }`,
  },
  "GET /api/companies/{id}": {
    does: "A company with its members and subscriptions.",
    run: `query ($id: UUID!) { company(id: $id) { ${company} } }`,
    fails: [404],
  },
})
