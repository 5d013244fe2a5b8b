import { computed, readModel } from "../database/read-model.js"
import { runQuery } from "../database/run-query.js"

/** The messages of connections that wait for their delivery, counted by an index of those alone. */
const countQueued = `
  select h.id, count(*)::integer as count from channel h
  join message m on m.company_id = h.company_id and m.status = 'queued'
  join chat c on c.id = m.chat_id and c.company_id = m.company_id and c.messenger = h.messenger and c.from_id = h.external_id
  where h.id = any($1::uuid[]) and h.company_id = any($2::uuid[]) group by h.id`

export const channelReadModel = readModel("Channel", {
  config: computed(["externalId"], ({ externalId }) => ({ externalId })),
  queued: {
    needs: [],
    async load(rows, reader) {
      const parameters = [rows.map(({ id }) => id), reader.companyIds]
      const found = await runQuery<{ id: string; count: number }>(reader, { sql: countQueued, parameters })
      const counts = new Map(found.map(({ id, count }) => [id, count]))
      return rows.map(({ id }) => counts.get(id) ?? 0)
    },
  },
})
