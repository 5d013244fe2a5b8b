import { sql } from "kysely"
import { hasMany, readModel } from "../database/read-model.js"
import { anyOf, arrayOf } from "../database/reader.js"

export const memberReadModel = readModel("Member")
export const subscriptionReadModel = readModel("Subscription")

/** A company is scoped by its own ID, since it has no company ID. */
export const companyReadModel = readModel("Company", {}, (query, companyIds) =>
  query.where(sql<boolean>`t.id = ${anyOf(arrayOf(companyIds))}`),
)

/** Members of companies, oldest membership first. */
export const companyMembers = hasMany(
  () => memberReadModel,
  "companyId",
  (query, ids) => query.where("t.company_id", "=", ids).orderBy("t.created_at").orderBy("t.id"),
)

export const companySubscriptions = hasMany(
  () => subscriptionReadModel,
  "companyId",
  (query, ids) => query.where("t.company_id", "=", ids),
)

/** Users, visible to members of the same company. */
export const userReadModel = readModel("User", {}, (query, companyIds) =>
  query.where(sql<boolean>`exists (select 1 from member m where m.user_id = t.id and m.company_id = any(${companyIds}::uuid[]))`),
)
