import { world } from "../kit/world.js"

const w = world()

it("tables of a new database are planned as ones that will grow, not as empty ones", async () => {
  const [{ version }] = await w.sql("select current_setting('server_version_num')::int as version")
  const measured = await w.sql(
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples = 0",
  )
  // An older PostgreSQL cannot forget what a migration has measured.
  if (version >= 180_000) expect(measured).toEqual([])
})
