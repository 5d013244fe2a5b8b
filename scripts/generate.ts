import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { MikroORM } from "@mikro-orm/postgresql"
import { printSchema } from "graphql"
import mapper from "../mikro-orm.config.js"
import { apiVersion } from "../src/app.js"
import { OperationEngine } from "../src/graphql/engine.js"
import { buildPlatformSchema, inRestWords } from "../src/graphql/schema.js"
import { prepareRoutes } from "../src/http/rest.js"
import { openApiDocument } from "../src/rest/kit/openapi.js"
import { brokenSeals, sealMigrations } from "./sealed-migrations.js"

/** What is generated from the code and committed, so that a change of the contract is seen in its review: file name and content. */
function generated(): Record<string, string> {
  const schema = buildPlatformSchema()
  const openapi = openApiDocument(prepareRoutes(new OperationEngine(), inRestWords(schema)), apiVersion)
  return { "schema.graphql": `${printSchema(schema)}\n`, "openapi.json": `${JSON.stringify(openapi, null, 2)}\n` }
}

const place = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Sentences about what is committed and no longer what the code says. */
async function staleness(): Promise<string[]> {
  const stale: string[] = []
  for (const [name, content] of Object.entries(generated())) {
    const committed = await readFile(place(name), "utf8").catch(() => "")
    if (committed !== content) stale.push(`${name} is stale: run \`npm run generate\` and commit it`)
  }
  // Compared with the snapshot beside the migrations, so no database is needed.
  const orm = await MikroORM.init(mapper)
  if (await orm.migrator.checkSchema())
    stale.push("migrations/ do not say what the entities say: run `node_modules/.bin/mikro-orm migration:create` and commit what it writes")
  await orm.close()
  return [...stale, ...(await brokenSeals(place("migrations")))]
}

if (process.argv.includes("--check")) {
  const stale = await staleness()
  for (const sentence of stale) process.stderr.write(`${sentence}\n`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const [name, content] of Object.entries(generated())) await writeFile(place(name), content)
  await sealMigrations(place("migrations"))
}
