import { sql } from "kysely"
import { type PlainRow, type Query, readModel } from "../database/read-model.js"
import { inList } from "../database/reader.js"

/** A company is its own border. */
const byOwnId = (query: Query, companyIds: string[]) => query.where("t.id", ...inList(companyIds))

export const memberReadModel = readModel("Member")
export const subscriptionReadModel = readModel("Subscription")

const grouped = (rows: PlainRow[], children: PlainRow[], field: string) => {
  for (const row of rows) row[field] = children.filter((child) => child["companyId"] === row["id"])
}

export const companyReadModel = readModel(
  "Company",
  {
    members: {
      needs: [],
      async load(rows, reader) {
        const members = await reader
          .scoped(memberReadModel)
          .innerJoin("users as u", "u.id", "t.user_id")
          .where("t.company_id", ...inList(rows.map((row) => row["id"])))
          .select(["t.id", "t.company_id as companyId", "t.user_id as userId", "t.role", "u.email", "u.name"])
          .select(["t.created_at as createdAt", "t.updated_at as updatedAt"])
          .orderBy("t.created_at")
          .orderBy("t.id")
          .execute()
        grouped(rows, members, "members")
      },
    },
    subscriptions: {
      needs: [],
      async load(rows, reader, selection) {
        const ids = rows.map((row) => row["id"])
        const found = await reader.list(subscriptionReadModel, selection, (query) => query.where("t.company_id", ...inList(ids)))
        grouped(rows, found, "subscriptions")
      },
    },
  },
  byOwnId,
)

/** People, seen by those who share a company with them. */
export const userReadModel = readModel("User", {}, (query, companyIds) =>
  query.where(sql<boolean>`exists (select 1 from member m where m.user_id = t.id and m.company_id = any(${companyIds}::uuid[]))`),
)
