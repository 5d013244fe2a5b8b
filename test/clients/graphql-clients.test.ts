import { appendFileSync, cpSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { buildSchema, isScalarType, isSpecifiedScalarType } from "graphql"
import { type ClientExample, type ClientTour, clientTour } from "../kit/client-tours.js"
import { everyOperation } from "../kit/every-operation.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const page = "docs/api/graphql-clients.md"
const folder = "docs/examples/graphql"
const text = readFileSync(page, "utf8")
const schema = buildSchema(readFileSync("schema.graphql", "utf8"))
const allOperations = everyOperation(schema)

/** A generator, and what is particular to its language. */
interface Generator extends Omit<ClientExample, "page"> {
  /** Starts the program that prints events. */
  events: string
  /** Generates and compiles, as the page's second block does before it runs the program. */
  compile: string
  /** The file of operations, and how these are written in it. */
  operations: [file: string, write?: (operation: string) => string]
  /** The file that maps scalars, and the scalars that are not mapped there. */
  scalars: [file: string, ...without: string[]]
  /** Lines of generated files that have no type, other than those of the generator itself. */
  untyped?: [files: RegExp, line: RegExp]
}

// It runs TypeScript as it is.
const node = ["node --eval 'process.exit(process.features.typescript ? 0 : 1)'", "npm --version", "curl --version"]
const generators: Generator[] = [
  {
    section: "graphql-codegen",
    folder: `${folder}/codegen`,
    needs: node,
    events: "npm run events",
    compile: "npm run generate; npm run check",
    operations: ["operations.graphql"],
    scalars: ["codegen.ts"],
    untyped: [/^generated\/graphql\.ts$/, /^(?!\s*(\/?\*|\/\/)|.*\b__meta__\b).*\bany\b/],
  },
  {
    section: "gql.tada",
    folder: `${folder}/gql-tada`,
    needs: node,
    events: "npm run events",
    compile: "npm run generate; npm run check",
    operations: ["operations.ts", (operation) => `export const ${nameOf(operation)} = graphql(\`${operation}\`)`],
    scalars: ["graphql.ts"],
  },
  {
    section: "genqlient",
    folder: `${folder}/genqlient`,
    needs: ["go version", "curl --version"],
    events: "go run ./events",
    compile: "go tool genqlient; go vet ./...; go build ./...",
    // It cannot send files.
    operations: ["operations.graphql", (operation) => (operation.includes("Upload!") ? "" : operation)],
    scalars: ["genqlient.yaml", "Upload"],
    untyped: [/^platform\/generated\.go$/, /^\t\w+ .*(interface\{\}|\bany\b.*`json)/],
  },
  {
    section: "ariadne-codegen",
    folder: `${folder}/ariadne-codegen`,
    needs: ["python3 -c 'import ensurepip, sys; assert sys.version_info >= (3, 11)'", "curl --version"],
    events: ".venv/bin/python events.py",
    compile: ".venv/bin/ariadne-codegen; .venv/bin/mypy .",
    operations: ["operations.graphql"],
    // It has a type of its own.
    scalars: ["pyproject.toml", "Upload"],
    untyped: [/^platform_client\/(?!client|exceptions|base_model|async_base_client)\w+\.py$/, /\bAny\b/],
  },
]

const nameOf = (operation: string) => /^\w+ (\w+)/.exec(operation)![1]!

const tours = await Promise.all(generators.map(async (generator) => ({ ...generator, tour: await clientTour({ ...generator, page }) })))
const w = world()
const { acme } = w
const environment = () => ({ PLATFORM_URL: w.url, PLATFORM_TOKEN: acme.token })

beforeEach(async () => {
  const { body } = await w.rest.as(acme.token).get("/api/chats?take=100").expect(200)
  for (const { id } of body.data) await w.rest.as(acme.token).delete(`/api/chats/${id}`).expect(200)
  for (const name of ["Ann", "Ben", "Cleo"]) await acme.chat({ name })
  await acme.chat({ name: "Not of the playground", messenger: "widget", fromId: acme.widget.externalId })
})

/** What the page says that each program prints. */
const printed = /^```text\n(.*?)^```$/ms.exec(text)![1]!.trimEnd().split("\n")

/** Sends messages until the program has printed one: when it is subscribed, only it knows. */
async function receivesEvents(tour: ClientTour, commands: string) {
  const chat = await acme.chat()
  const running = tour.start(commands, environment())
  const ended = running.ended.then((ran) => {
    throw new Error(`It ended: ${JSON.stringify(ran)}`)
  })
  const received = async () => {
    await acme.message({ chatId: chat.id, text: "Is it printed?" })
    return running.said.includes("MESSAGE_CREATED: Is it printed?\n")
  }
  await Promise.race([ended, until("the program has printed a message", received, () => running)])
  running.stop()
  await happens(
    "the program has ended",
    ended.catch(() => {}),
  )
}

for (const { tour, section, events, compile, operations, untyped } of tours)
  tour.describe(section, () => {
    it("generates, compiles and runs as the page says, and its other program prints events", async () => {
      const lines = await tour.run(environment())
      expect(lines.slice(-printed.length)).toEqual(printed)
      await receivesEvents(tour, events)
    })

    it("generates and compiles an operation for each root field, with every field of every type", async () => {
      const [file, write = String] = operations
      cpSync("schema.graphql", join(tour.folder, "schema.graphql"))
      appendFileSync(join(tour.folder, file), allOperations.map((operation) => `\n${write(operation)}\n`).join(""))
      await tour.paste(compile)
      if (untyped) expect(linesBelow(tour.folder, ...untyped)).toEqual([])
    })
  })

/** The lines of files below a folder that match. */
function linesBelow(folder: string, files: RegExp, line: RegExp): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => files.test(file))
  if (found.length === 0) throw new Error(`No file matches ${files}`)
  return found.flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n")).filter((text) => line.test(text))
}

it("the page and the configuration of each generator have a type for each scalar of the schema", () => {
  const scalars = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type))
  const names = scalars.map(({ name }) => name).sort()
  expect([...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).sort()).toEqual(names)
  for (const generator of generators) {
    const [file, ...without] = generator.scalars
    const configured = readFileSync(join(generator.folder, file), "utf8")
    const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(configured))
    expect([generator.section, missing]).toEqual([generator.section, without])
  }
})
