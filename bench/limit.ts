import { v7 } from "uuid"
import { openPool, preparedAs, serve } from "./bare.js"
import { chatStatements, json, messageFields, messageStatement, storeMessage } from "./statements.js"

/** LIMIT: the upper bound. One prepared statement per workload, and PostgreSQL builds the response's JSON. */
const pool = openPool()
const stored = storeMessage("$1::uuid", "$2", "$3", `(${json("made", messageFields)})::text as body`)

async function run(name: string, text: string, values: unknown[]): Promise<string> {
  const { rows } = await pool.query({ name: preparedAs(name), text, values })
  return rows[0].body
}

serve({
  latest: (...values) => run("latest", chatStatements.latest, values),
  after: (...values) => run("after", chatStatements.after, values),
  filtered: (...values) => run("filtered", chatStatements.filtered, values),
  found: (...values) => run("found", chatStatements.found, values),
  messages: (...values) => run("messages", messageStatement, values),
  createMessage: (...values) => run("createMessage", stored, [v7(), ...values]),
})
