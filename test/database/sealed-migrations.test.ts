import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brokenSeals, sealMigrations } from "../../scripts/sealed-migrations.js"

let folder: string
const migration = (name: string, text: string) => writeFile(join(folder, `Migration${name}.ts`), text)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "migrations-"))
  await migration("1", "create table a ()")
  await sealMigrations(folder)
})

afterEach(() => rm(folder, { recursive: true }))

it("a new migration needs a recorded checksum", async () => {
  expect(await brokenSeals(folder)).toEqual([])
  await migration("2", "create table b ()")
  expect(await brokenSeals(folder)).toEqual([expect.stringMatching(/^migrations\/Migration2.ts is not sealed/)])
  await sealMigrations(folder)
  expect(await brokenSeals(folder)).toEqual([])
})

it.each([
  ["changed", () => migration("1", "create table a (id uuid)")],
  ["removed", () => rm(join(folder, "Migration1.ts"))],
])("a sealed one that was %s is told, and sealing does not mend it", async (_how, change) => {
  await change()
  await sealMigrations(folder)
  expect(await brokenSeals(folder)).toEqual([expect.stringMatching(/^migrations\/Migration1.ts was changed or removed/)])
})
