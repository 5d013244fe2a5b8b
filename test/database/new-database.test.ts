import pg from "pg"
import { world } from "../kit/world.js"

const w = world()

const version = await versionOf(process.env["TEST_SUPERUSER_URL"]!)
const skipped = version < 18 ? ` (skipped: PostgreSQL ${version} cannot forget what a migration has measured)` : ""

;(version < 18 ? it.skip : it)(`tables of a new database are planned as ones that will grow, not as empty ones${skipped}`, async () => {
  const measured = await w.sql(
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples = 0",
  )
  expect(measured).toEqual([])
})

/** The major version of a PostgreSQL server. */
async function versionOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query("select current_setting('server_version_num')::int / 10000 as major")
  await client.end()
  return rows[0].major
}
