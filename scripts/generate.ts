import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { minifyIntrospection, outputIntrospectionFile } from "@gql.tada/internal"
import { type EntityMetadata, MikroORM } from "@mikro-orm/postgresql"
import { introspectionFromSchema } from "graphql"
import mapper from "../mikro-orm.config.js"
import { entities } from "../src/database/options.js"
import { storedProperties } from "../src/database/read-model.js"
import { OperationEngine } from "../src/graphql/engine.js"
import { printedSchema } from "../src/graphql/printed-schema.js"
import { buildPlatformSchema, inRestWords } from "../src/graphql/schema.js"
import { prepareRoutes } from "../src/http/rest.js"
import { newRecording } from "./examples/demo-server.js"
import type { Recording } from "./examples/player.js"
import { openApiDocument } from "./openapi/document.js"
import { httpFile, postmanCollection } from "./openapi/requests.js"
import { brokenSeals, sealMigrations } from "./sealed-migrations.js"

/** What a server with the demo answered to a request of each route. */
const recordingFile = "scripts/examples/recording.generated.json"

/** The generated files, by name, with their content; they are committed, so that a review shows changes of the contract. */
function generated(orm: MikroORM, recording: Recording): Record<string, string> {
  const schema = buildPlatformSchema(orm)
  const openapi = openApiDocument(prepareRoutes(new OperationEngine(), inRestWords(schema)), recording)
  return {
    "schema.graphql": printedSchema(schema),
    [recordingFile]: asFile(recording),
    "openapi.json": asFile(openapi),
    "docs/api/platform.http": httpFile(openapi),
    "docs/api/platform.postman_collection.json": asFile(postmanCollection(openapi)),
    "src/database/tables.generated.ts": storedEntities(orm),
    "src/pages/browser/inbox/kit/schema.generated.d.ts": outputIntrospectionFile(
      minifyIntrospection(introspectionFromSchema(schema, { descriptions: false })),
      { fileType: ".d.ts", shouldPreprocess: true },
    ),
  }
}

const asFile = (value: object) => `${JSON.stringify(value, null, 2)}\n`

/** The table and the stored properties of every entity, as a type. `texts` are numbers that the driver returns as text, `embedded` columns of a property's own properties. */
function storedEntities(orm: MikroORM): string {
  const union = (names: string[]) => names.map((name) => JSON.stringify(name)).join(" | ") || "never"
  const stored = ([name, { prototype }]: [string, { prototype: unknown }]) => {
    const { tableName, props } = [...orm.getMetadata().getAll().values()].find((meta) => meta.prototype === prototype) as EntityMetadata
    const kept = storedProperties(props)
    const texts = kept.filter(({ columnTypes }) => /^big(int|serial)$/.test(columnTypes[0]!))
    const [properties, bigints] = [kept, texts].map((list) => union(list.map((prop) => prop.name as string)))
    const embedded = props.filter((prop) => prop.embedded).map((prop) => `${prop.fieldNames[0]}: "${prop.embedded!.join(".")}"`)
    return `  ${name}: { table: "${tableName}"; properties: ${properties}; texts: ${bigints}; embedded: { ${embedded.join("; ")} } }\n`
  }
  const lines = Object.entries(entities).map(stored).join("")
  return `// Written by \`npm run generate\` from the mapper's metadata.\n\n/** The table and the stored properties of every entity. */\nexport interface StoredEntities {\n${lines}}\n`
}

const place = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Sentences about committed files that no longer match the code. */
async function staleness(orm: MikroORM): Promise<string[]> {
  const stale: string[] = []
  const recording: Recording = JSON.parse(await readFile(place(recordingFile), "utf8"))
  for (const [name, content] of Object.entries(generated(orm, recording))) {
    const committed = await readFile(place(name), "utf8").catch(() => "")
    if (committed !== content) stale.push(`${name} is stale: run \`npm run generate\` and commit it`)
  }
  // Compared with the snapshot beside the migrations, so no database is needed.
  if (await orm.migrator.checkSchema())
    stale.push("migrations/ do not say what the entities say: run `node_modules/.bin/mikro-orm migration:create` and commit what it writes")
  return [...stale, ...(await brokenSeals(place("migrations")))]
}

const orm = await MikroORM.init(mapper)
if (process.argv.includes("--check")) {
  const stale = await staleness(orm)
  for (const sentence of stale) process.stderr.write(`${sentence}\n`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const [name, content] of Object.entries(generated(orm, await newRecording()))) await writeFile(place(name), content)
  await sealMigrations(place("migrations"))
}
await orm.close()
