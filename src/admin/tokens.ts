import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { AccessToken } from "../entities/access-token.js"
import { entityLimits } from "../entities/limits.js"
import { type Command, change, companyOfRow, time } from "./kit.js"
import { companyOf } from "./people.js"

const companyOfToken: Statement<RowOf<"AccessToken", "company_id">> = {
  name: "company-of-token",
  text: "select company_id from access_token where id = $1",
}

const shownToken = ({
  id,
  companyId,
  name,
  tokenPrefix,
  createdAt,
  updatedAt,
  expiresAt,
  readOnly,
  lastUsedAt,
  createdBy,
}: AccessToken) => ({
  id,
  companyId,
  name,
  tokenPrefix,
  createdAt,
  updatedAt,
  expiresAt,
  readOnly,
  lastUsedAt,
  createdBy,
})

const company = { company: { required: true, description: "the company's id" } }
const id = { id: { required: true, description: "the id" } }

/** Access tokens. */
export const tokenCommands: Record<string, Command> = {
  "token:create": {
    does: "Creates an access token; its value is printed this once.",
    options: {
      ...company,
      name: { required: true, max: entityLimits.accessTokenName, description: "what people call it" },
      "expires-at": { description: "ISO 8601; without it the token does not expire" },
      "read-only": { flag: true, description: "the token can only read" },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const limits = { expiresAt: time("expires-at", options["expires-at"]), readOnly: options["read-only"] !== undefined }
      return change(desk, [companyId], async (unit) => {
        const token = AccessToken.issue(companyId, options["name"]!, null, limits)
        unit.em.persist(token)
        return { ...shownToken(token), token: token.token }
      })
    },
  },
  "token:list": {
    does: "Lists the access tokens of a company that are not revoked, newest first; never their values.",
    options: company,
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      return change(desk, [companyId], async ({ em }) => {
        const tokens = await em.find(AccessToken, { companyId, revokedAt: null }, { orderBy: { createdAt: "desc", id: "desc" } })
        return tokens.map(shownToken)
      })
    },
  },
  "token:revoke": {
    does: "Revokes an access token, for good and at once.",
    options: id,
    async run(desk, options) {
      const companyId = await companyOfRow(desk, companyOfToken, options["id"]!, "access token")
      const revoked = await change(desk, [companyId], async (unit) => {
        const token = await unit.em.findOneOrFail(AccessToken, { id: options["id"]! })
        token.revoke()
        return { ...shownToken(token), revokedAt: token.revokedAt }
      })
      await desk.wakeUp.publish("credentials", revoked.id)
      return revoked
    },
  },
}
