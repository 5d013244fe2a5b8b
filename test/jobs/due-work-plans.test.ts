import { deliver } from "../../src/jobs/deliver.js"
import { sentStatements } from "../kit/company-plans.js"
import { readsOf } from "../kit/large-company.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, sql } = w

it("due work is found without reading all of it, and that of a company with little beside that of one with much", async () => {
  await stopScheduler(w)
  // Asked for before anything is due, so that nothing is taken.
  const [due] = (await sentStatements(w, () => deliver.sweep.run(w.services).then(() => w.services.running.idle()))).filter(
    ({ name }) => name === "due-deliver",
  )
  // Like a vendor that has been away for hours.
  const waiting = (company: string, count: number, since: string) =>
    sql(
      `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, delivery_due_at)
       select gen_random_uuid(), now(), now(), $1, 'olx', 'due', $2::timestamptz - interval '1 day' + n * interval '1 millisecond' from generate_series(1, $3) n`,
      [company, since, count],
    )
  const at = (due!.values[0] as Date).toISOString()
  await waiting(acme.id, 50_000, at)
  await waiting(globex.id, 2, at)
  await sql("analyze chat")

  const found = await sql(due!.text, due!.values)
  expect(found.filter(({ company_id: company }) => company === globex.id)).toHaveLength(2)
  expect(found.length).toBeGreaterThan(2)
  for (const { rows } of await readsOf(w, [due!])) expect(rows).toBeLessThan(500)
})
