import { createServer } from "node:http"
import { postgraphile } from "postgraphile"
import { makePgService } from "postgraphile/adaptors/pg"
import { grafserv } from "postgraphile/grafserv/node"
import { PostGraphileAmberPreset } from "postgraphile/presets/amber"
import { jsonPgSmartTags } from "postgraphile/utils"

/** References that the database does not declare, and another name for a table whose name is one of GraphQL's own types. */
const tags = jsonPgSmartTags({
  version: 1,
  config: {
    class: {
      "public.subscription": { tags: { name: "company_subscription" } },
      "public.chat": {
        tags: { foreignKey: "(last_message_id) references public.message (id)|@fieldName lastMessage|@behavior -backwards" },
      },
      "public.message": {
        tags: { foreignKey: "(reply_to_message_id) references public.message (id)|@fieldName replyTo|@behavior -backwards" },
      },
    },
  },
})

/** PostGraphile 5 on the same database, as its own documentation sets it up for production. */
const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  plugins: [tags],
  // Lists may be ordered by any column, not only by the first one of an index.
  disablePlugins: ["PgIndexBehaviorsPlugin"],
  pgServices: [
    makePgService({
      connectionString: process.env["DATABASE_URL"]!,
      schemas: ["public", "bench"],
      poolConfig: { max: 10 },
    }),
  ],
  grafserv: { graphiql: false, watch: false },
})

const server = createServer()
await instance.createServ(grafserv).addTo(server)
server.listen(Number(process.env["PORT"]), "127.0.0.1")
