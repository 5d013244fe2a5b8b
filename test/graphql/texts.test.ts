import { buildSchema, getNamedType, type IntrospectionQuery, isInputObjectType, isObjectType } from "graphql"
import { world } from "../kit/world.js"

const w = world()
const { acme, gql } = w
const responseJson = "application/graphql-response+json"

/** The status and the errors of an operation, and whether there was a result at all. */
async function refusal(query: string, variables: object) {
  const answer = await fetch(`${w.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: responseJson, "x-access-token": acme.token },
    body: JSON.stringify({ query, variables }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
  const { data, errors = [] } = (await answer.json()) as any
  return { status: answer.status, data, code: errors[0]?.extensions.code, details: errors[0]?.extensions.details }
}

const long = "x".repeat(65)
const between = (path: string) => [{ path, message: "must be 1 to 64 characters" }]

describe("the texts of inputs", () => {
  it("are Strings, so that generators know their type; every other scalar names its specification", async () => {
    const query = "{ __schema { types { kind name specifiedByURL } } }"
    const { types } = (await gql(null, query)).data.__schema as IntrospectionQuery["__schema"]
    const scalars = types.filter(({ kind }) => kind === "SCALAR").map((type) => type as { name: string; specifiedByURL?: string | null })
    expect(scalars.map(({ name }) => name).toSorted()).toEqual(
      ["Boolean", "DateTime", "Float", "HexColor", "ID", "Int", "JSON", "PhoneNumber", "String", "URL", "UUID", "Upload"].toSorted(),
    )
    const unspecified = scalars.filter(({ specifiedByURL }) => !specifiedByURL).map(({ name }) => name)
    expect(unspecified.toSorted()).toEqual(["Boolean", "Float", "ID", "Int", "String"])
  })

  it("have their lengths in the description, and in a directive for tools", async () => {
    const schema = buildSchema(await (await fetch(`${w.url}/graphql/schema.graphql`)).text())
    const places = Object.values(schema.getTypeMap()).flatMap((type) => {
      if (isInputObjectType(type)) return Object.values(type.getFields())
      return isObjectType(type) ? Object.values(type.getFields()).flatMap(({ args }) => args) : []
    })
    const limited = places.filter(({ astNode }) => astNode?.directives?.length)
    expect(limited.length).toBeGreaterThan(60)
    for (const { astNode, description, type } of limited) {
      const [{ name, arguments: [min, max] = [] } = {}] = astNode!.directives! as never as { name: { value: string }; arguments: never[] }[]
      const [least, most] = [min, max].map((each) => (each as never as { value: { value: string } }).value.value)
      expect(name?.value).toBe("length")
      expect(getNamedType(type).name).toBe("String")
      expect(description).toMatch(
        new RegExp(`Length(?: of each)?: (?:${least} to ${most} characters after trimming|at most ${most} characters)\\.$`),
      )
    }
  })

  const create = "mutation ($input: CreateChatTagInput!) { createChatTag(input: $input) { name } }"

  it.each([
    ["in a variable", create, { input: { name: long } }, 400, between("input.name")],
    ["in a literal", `mutation { createChatTag(input: { name: "${long}" }) { name } }`, {}, 400, between("name")],
    [
      "in a variable inside a literal",
      "mutation ($name: String!) { createChatTag(input: { name: $name }) { name } }",
      { name: long },
      200,
      between("input.name"),
    ],
    [
      "in a list",
      "mutation ($id: UUID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }",
      { id: "00000000-0000-0000-0000-000000000000", input: { excludedTags: ["fine", long] } },
      400,
      between("input.excludedTags.1"),
    ],
    [
      "in an argument",
      "mutation ($id: UUID!, $label: String!) { addChatLabel(id: $id, label: $label) { id } }",
      { id: "00000000-0000-0000-0000-000000000000", label: long },
      200,
      between("label"),
    ],
  ])("are refused beyond their limits, %s", async (_place, query, variables, status, details) => {
    const refused = await refusal(query, variables)
    expect(refused).toEqual({ status, data: status === 400 ? undefined : null, code: "BAD_USER_INPUT", details })
  })

  it.each([
    ["a variable", create, { input: { name: "  in a variable " } }],
    ["a literal", 'mutation { createChatTag(input: { name: "  in a literal " }) { name } }', {}],
    ["a variable inside a literal", "mutation ($name: String!) { createChatTag(input: { name: $name }) { name } }", { name: " inside " }],
  ])("are trimmed, in %s", async (_place, query, variables) => {
    const { name } = (await gql(acme.token, query, variables)).data.createChatTag
    expect(name).toBe(name.trim())
  })

  it("count characters and not UTF-16 units", async () => {
    expect((await gql(acme.token, create, { input: { name: "😀".repeat(64) } })).errors).toBeUndefined()
    expect(await refusal(create, { input: { name: "😀".repeat(65) } })).toMatchObject({ details: between("input.name") })
  })
})

describe("names of scalars of an earlier version", () => {
  it.each([
    ["a text", "mutation ($name: Text1to64!) { createChatTag(input: { name: $name }) { name } }", { name: "Earlier" }],
    [
      "a time",
      "query ($companyId: UUID, $from: Timestamp) { outcomes(companyId: $companyId, from: $from) { from } }",
      { from: "2026-01-31T09:15:00.000Z" },
    ],
    [
      "a URL",
      `mutation ($url: WebAddress!, $types: [EventType!]!) {
         createEventWebhook(input: { url: $url, types: $types }) { url } }`,
      { url: "https://shop.example/events", types: ["MESSAGE_CREATED"] },
    ],
  ])("are known in the variables of an operation: %s", async (_what, query, variables) => {
    expect((await gql(acme.token, query, variables)).errors).toBeUndefined()
  })

  it("are unknown elsewhere", async () => {
    const query = '{ text: __type(name: "Text1to64") { name } time: __type(name: "Timestamp") { name } }'
    expect((await gql(null, query)).data).toEqual({ text: null, time: null })
  })
})
