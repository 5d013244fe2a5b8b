import { toolTable } from "../../src/mcp/tools.js"
import type { Credential } from "../kit/clients.js"
import { mcpClient } from "../kit/mcp.js"
import { argumentsFor } from "../kit/mcp-tools.js"
import { promised } from "../kit/promise.js"
import { type Belongings, belongings, everythingOf } from "../kit/routes.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest } = w

let own: Belongings
let foreign: Belongings
const credentials: Record<string, Credential> = {}

/** Every kind of credential, by name; those of nobody and of a visitor are refused before a message is read. */
const kinds = {
  known: [
    "an access token",
    "a read-only token",
    "an owner",
    "an admin",
    "a member",
    "a member of both companies",
    "a user without companies",
  ],
  refused: ["nothing", "a mistyped token", "a revoked token", "an expired token", "the JWT of an ended session", "a visitor"],
}

async function makeCredentials() {
  const path = `/api/companies/${acme.id}/access-tokens`
  const asOwner = rest.as(acme.owner.jwt)
  const made = async (fields: object) => (await asOwner.post(path, { name: "Shop", ...fields }).expect(201)).body
  const revoked = await made({})
  await asOwner.delete(`${path}/${revoked.id}`).expect(200)
  const ended = await acme.person()
  await w.gql(ended.jwt, "mutation { signOut }")
  const both = await acme.person()
  await globex.person("member", both)
  const nobody = await acme.person()
  await w.sql("delete from member where user_id = $1", [nobody.id])
  const expiring = await made({ expiresAt: new Date(w.clock.now().getTime() + 1_000).toISOString() })
  w.clock.advance(2_000)
  const visit = await rest.as({}).post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)
  Object.assign(credentials, {
    "an access token": acme.token,
    "a read-only token": (await made({ readOnly: true })).token,
    "an owner": acme.owner.jwt,
    "an admin": acme.admin.jwt,
    "a member": acme.member.jwt,
    "a member of both companies": both.jwt,
    "a user without companies": nobody.jwt,
    nothing: null,
    "a mistyped token": `${acme.token.slice(0, -1)}_`,
    "a revoked token": revoked.token,
    "an expired token": expiring.token,
    "the JWT of an ended session": ended.jwt,
    "a visitor": visit.body.visitorToken,
  })
}

beforeAll(async () => {
  own = await belongings(acme)
  foreign = await belongings(globex)
  await makeCredentials()
})

const isId = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{8}-/.test(value)

/** Arguments with each id replaced. */
const withIds = (given: Record<string, unknown>, replace: (name: string, id: string) => unknown) =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, isId(value) ? replace(name, value) : value]))

/** Sets of arguments: each id of the company, of another one, of nothing, and malformed; one of them, and all of them. */
function variants(name: string): [string, Record<string, unknown>][] {
  const given = argumentsFor(own)[name]!
  const theirs = argumentsFor(foreign)[name]!
  const ids = Object.keys(given).filter((argument) => isId(given[argument]))
  const nothing = "019ab3d5-4a6b-7c2e-8f10-2d3e4f5a6b7c"
  const replaced = (says: string, replace: (argument: string) => unknown): [string, Record<string, unknown>][] => [
    [`all ids ${says}`, withIds(given, replace)],
    ...ids.map((id): [string, Record<string, unknown>] => [
      `${id} ${says}`,
      withIds(given, (argument, value) => (argument === id ? replace(argument) : value)),
    ]),
  ]
  return [
    ["its own ids", given],
    ...replaced("of another company", (argument) => theirs[argument]),
    ...replaced("of nothing", () => nothing),
    ...replaced("malformed", () => "1' or '1'='1"),
    ["nothing", {}],
  ]
}

interface Outcome {
  code: string
  message: string
  details: unknown
  /** The ids in a result. */
  ids: string[]
}

const ok = (value: unknown): Outcome => ({
  code: "OK",
  message: "",
  details: [],
  ids: [...new Set(JSON.stringify(value).match(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g))].sort(),
})

async function overMcp(name: string, credential: Credential, given: Record<string, unknown>): Promise<Outcome> {
  const { body } = await mcpClient(() => w.url, credential).request(name, given)
  const { isError, structuredContent } = body.result ?? {}
  if (structuredContent && !isError) return ok(structuredContent)
  const { code, message, details } = body.error?.data ?? structuredContent
  return { code, message, details, ids: [] }
}

/** The words of enums that the arguments contain, as GraphQL has them. */
const graphqlWords: Record<string, string> = { text: "TEXT", playground: "PLAYGROUND", completed: "COMPLETED" }

async function overGraphql(name: string, credential: Credential, given: Record<string, unknown>): Promise<Outcome> {
  const enums = ["kind", "messenger", "status"]
  const variables = Object.entries(given).map(([key, value]) => [key, enums.includes(key) ? graphqlWords[value as string] : value])
  const { data, errors } = await w.gql(credential, toolTable[name]!.document, Object.fromEntries(variables))
  if (!errors) return ok(data)
  const [{ message, extensions }] = errors as [{ message: string; extensions: { code: string; details: unknown } }]
  return { code: extensions.code, message, details: extensions.details, ids: [] }
}

/** Expects the same outcome, except for ids of what was made, and for the sentence in which GraphQL calls an argument a variable. */
function expectSame(name: string, says: string, mcp: Outcome, graphql: Outcome) {
  const isOfVariable = graphql.message.startsWith("Variable ")
  // Over GraphQL only the first malformed variable is told.
  const pathOf = ({ details }: Outcome) => (details as { path: string }[])[0]!.path
  const reads = toolTable[name]!.document.startsWith("query")
  const shown = (outcome: Outcome) => {
    const { code, message, details, ids } = outcome
    return isOfVariable ? { says, code, path: pathOf(outcome) } : { says, code, message, details, ids: reads ? ids : [] }
  }
  expect(shown(mcp)).toEqual(shown(graphql))
}

describe.each(Object.keys(toolTable))("%s", (name) => {
  promised.each(kinds.known.map((kind) => [kind] as const))("answers %s as its operation does, with any ids", async (kind: string) => {
    const credential = credentials[kind]!
    for (const [says, given] of variants(name)) {
      expectSame(name, says, await overMcp(name, credential, given), await overGraphql(name, credential, given))
    }
  })

  promised.each(kinds.refused.map((kind) => [kind] as const))(
    "is refused to %s before its arguments are read, in the words of its operation",
    async (kind: string) => {
      const credential = credentials[kind]!
      const { code, message } = await overGraphql(name, credential, argumentsFor(own)[name]!)
      expect(["UNAUTHENTICATED", "FORBIDDEN"]).toContain(code)
      for (const [says, given] of variants(name))
        expect([says, await overMcp(name, credential, given)]).toEqual([says, { code, message, details: [], ids: [] }])
    },
  )
})

promised("no credential of a company reads or changes anything of another through a tool", async () => {
  const before = await everythingOf(w, globex.id)
  const theirs = [globex.id, ...Object.values(foreign).filter(isId)]
  for (const kind of kinds.known.filter((each) => each !== "a member of both companies")) {
    for (const name of Object.keys(toolTable)) {
      for (const [says, given] of variants(name)) {
        const { ids } = await overMcp(name, credentials[kind]!, given)
        expect([kind, name, says, ids.filter((id) => theirs.includes(id))]).toEqual([kind, name, says, []])
      }
    }
  }
  expect(await everythingOf(w, globex.id)).toBe(before)
})
