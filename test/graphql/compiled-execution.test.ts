import {
  execute,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isAbstractType,
  isLeafType,
  isNonNullType,
  isObjectType,
  parse,
  validate,
} from "graphql"
import { authenticate } from "../../src/context/authenticate.js"
import { RequestContext } from "../../src/context/request-context.js"
import { compilable } from "../../src/graphql/compilable.js"
import { runOf } from "../../src/graphql/run.js"
import { comparable } from "../kit/comparable.js"
import { executionCases } from "../kit/execution-cases.js"
import { platformSchema } from "../kit/platform-schema.js"
import { endOfLog } from "../kit/sockets.js"
import { world } from "../kit/world.js"

async function byBoth(
  schema: GraphQLSchema,
  query: string,
  variables = {},
  operationName: string | undefined = undefined,
  root?: () => unknown,
) {
  const document = parse(query)
  expect(validate(schema, document)).toEqual([])
  const operation = getOperationAST(document, operationName)!
  const isCompiled = compilable(schema, document, operation) !== null
  const engine = comparable(await runOf(schema, document, operation)({}, variables, root?.() ?? {}))
  const asked = { schema, document, operationName, variableValues: variables, contextValue: {}, rootValue: root?.() ?? {} }
  return { isCompiled, engine, graphqlJs: comparable(await execute(asked)) }
}

for (const { about, schema, root, cases } of executionCases) {
  describe(`graphql-js's tests of ${about}`, () => {
    it.each(cases)("%s %s %j", async (...[by, query, variables, operationName]) => {
      const { isCompiled, engine, graphqlJs } = await byBoth(schema, query, variables, operationName, root)
      expect(engine).toEqual(graphqlJs)
      expect(isCompiled).toBe(by === "C")
      expect(globalThis).not.toHaveProperty("injected")
    })
  })
}

describe("the server's own schema", () => {
  const w = world()
  const schema = platformSchema
  const queries = Object.keys(schema.getQueryType()!.getFields())

  let webhook: { id: string }
  let mcpServer: { id: string }
  beforeAll(async () => {
    webhook = await w.acme.eventWebhook()
    mcpServer = await w.acme.mcpServer()
  })

  it.each(queries)("query %s has the same result on both", async (name) => {
    const { acme, services } = w
    const chat = await acme.chat()
    const message = await acme.message({ chatId: chat.id })
    await acme.tag()
    const tool = await acme.tool()
    const ids: Record<string, string> = {
      ...{ chat: chat.id, message: message.id, assistant: acme.assistant.id, assistantTool: tool.id, knowledgeItem: acme.knowledge.id },
      ...{ company: acme.id, companyId: acme.id, chatId: chat.id, toolId: tool.id },
      ...{ eventWebhook: webhook.id, webhookId: webhook.id, mcpServer: mcpServer.id },
      call: (await acme.call()).id,
    }
    // Events get their places in the log a moment after their commit.
    await endOfLog(w)
    const identity = await authenticate(services, { accessToken: null, authorization: `Bearer ${acme.owner.jwt}` })
    const info = { requestId: "-", address: "-", log: services.log, headers: {} }
    const { query, variables } = broad(schema, name, ids)
    for (const deep of [true, false]) {
      const document = parse(query)
      expect(validate(schema, document)).toEqual([])
      const operation = getOperationAST(document)!
      expect(compilable(schema, document, operation)).not.toBeNull()
      const values = { ...variables, deep }
      const answer = await runOf(schema, document, operation)(new RequestContext(services, identity, info), values)
      expect(answer.errors).toBeUndefined()
      const contextValue = new RequestContext(services, identity, info)
      expect(comparable(answer)).toEqual(comparable(await execute({ schema, document, variableValues: values, contextValue })))
    }
  })

  it("has no interface and no union, which are not compiled", () => {
    expect(Object.values(schema.getTypeMap()).filter(isAbstractType)).toEqual([])
  })
})

/** A query that selects a root field two levels deep, in the ways that clients do: fragments, aliases and conditions. */
function broad(schema: GraphQLSchema, name: string, ids: Record<string, string>) {
  const field = schema.getQueryType()!.getFields()[name]!
  const required = field.args.filter((arg) => isNonNullType(arg.type))
  const fragments: string[] = []
  const selected = (type: GraphQLNamedType, depth: number): string => {
    if (!isObjectType(type)) return ""
    const fields = Object.values(type.getFields())
    const leaves = fields.filter((each) => isLeafType(getNamedType(each.type))).map((each) => each.name)
    const objects = fields.filter((each) => isObjectType(getNamedType(each.type)) && (depth > 0 || each.name === "nodes"))
    const inner = objects.map((each, index) => {
      const condition = index % 2 === 0 ? "@include(if: $deep)" : "@skip(if: $deep)"
      return `${each.name} ${condition} ${selected(getNamedType(each.type), depth - 1)}`
    })
    // The nodes of a page at depth 0 are at depth -1, and a name has no minus.
    const fragment = `${type.name}At${depth + 1}`
    if (!fragments.some((text) => text.startsWith(`fragment ${fragment} `)))
      fragments.push(`fragment ${fragment} on ${type.name} { ${leaves.slice(0, 3).join(" ")} __typename }`)
    return `{ ...${fragment} ${inner.join(" ")} ... on ${type.name} { ${leaves.join(" ") || "__typename"} } ...${fragment} @skip(if: $deep) }`
  }
  const isObject = isObjectType(getNamedType(field.type))
  const declared = [...(isObject ? ["$deep: Boolean!"] : []), ...required.map((arg) => `$${arg.name}: ${arg.type}`)]
  const given = required.length > 0 ? `(${required.map((arg) => `${arg.name}: $${arg.name}`)})` : ""
  const set = selected(getNamedType(field.type), 2)
  const query = `query ${declared.length > 0 ? `(${declared})` : ""} { answer: ${name}${given} ${set} other: ${name}${given} ${set} } ${fragments.join(" ")}`
  return { query, variables: Object.fromEntries(required.map((arg) => [arg.name, ids[arg.name] ?? ids[name]])) }
}
