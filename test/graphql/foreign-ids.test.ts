import { readFileSync } from "node:fs"
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLOutputType,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from "graphql"
import { v7 } from "uuid"
import { root } from "../kit/house-rules.js"
import { promised } from "../kit/promise.js"
import { belongings, everythingOf } from "../kit/routes.js"
import { type CompanyFixture, world } from "../kit/world.js"

const w = world()
const { acme, globex, gql, rest } = w
const schema = buildSchema(readFileSync(`${root}schema.graphql`, "utf8"))

type Field = GraphQLField<unknown, unknown>
type Values = Record<string, unknown>

/** What the argument `id` of a field names. */
const kindOfId: Record<string, RegExp> = {
  company: /^company$/,
  assistant: /^((update|delete|copy)A|a)ssistant$/,
  assistantFolder: /AssistantFolder$/,
  tool: /^((update|delete|test)A|a)ssistantTool$/,
  knowledge: /nowledgeItem$/,
  chat: /^(chat|(update|delete|takeOver)Chat|set(AiControl|ChatFolder|ChatTags)|(un)?assign\w+|mark\w+|(add|remove)Chat\w+)$/,
  folder: /^(update|delete)ChatFolder$/,
  tag: /^(update|delete)ChatTag$/,
  message: /essage$/,
  call: /^call$/,
  server: /McpServer$|^mcpServer$/,
  webhook: /eventWebhook$|EventWebhook/,
  token: /AccessToken$/,
  stretch: /^rateStretch$/,
  question: /UnansweredQuestion$/,
}

/** What other names of arguments and input fields name. */
const kindOfName: Record<string, string> = {
  companyId: "company",
  assistantId: "assistant",
  callerAssistantId: "assistant",
  draftOfId: "assistant",
  chatId: "chat",
  toolId: "tool",
  toolCallId: "toolCall",
  webhookId: "webhook",
  deliveryId: "delivery",
  channelId: "channel",
  managerId: "member",
  tagId: "tag",
  tagIds: "tag",
  commentId: "comment",
  fileId: "file",
  mediaIds: "media",
  replyToMessageId: "message",
  messageId: "message",
  callId: "call",
  serverId: "server",
}

/** Places whose value is no row of a company. */
const ofNoCompany = new Set(["textModelId"])

/** Fields that this test cannot call: what they take is no JSON. */
const elsewhere = new Set(["uploadMedia"])

/** Places at which an ID of the own company is answered like an unknown one, with the reason. */
const alwaysAlike: Record<string, string> = {
  "guardrailHits(where.callId.eq)": "the hit is in a chat",
  "guardrailHits(where.callId.in)": "the hit is in a chat",
  "updateKnowledgeItem(input.fileId)": "the item is a text; a file of another company for a new item is tried with createKnowledgeItem",
}

/** IDs and other values that may be null, but not absent. */
const neverAbsent = ["assignManager(managerId)", "setChatFolder(folderId)", "setRatingQuestion(question)"]

/** A place of an ID in the arguments of a field. */
interface Place {
  path: string[]
  isList: boolean
}

function placesOf({ args }: Field): Place[] {
  const walk = (inputs: readonly (GraphQLArgument | GraphQLInputField)[], before: string[]): Place[] =>
    inputs.flatMap(({ name, type }) => {
      const named = getNamedType(type)
      const path = [...before, name]
      const nullable = isNonNullType(type) ? type.ofType : type
      if (named.name === "UUID") return ofNoCompany.has(name) ? [] : [{ path, isList: isListType(nullable) }]
      if (!isInputObjectType(named)) return []
      return walk(Object.values(named.getFields()), isListType(nullable) ? [...path, "0"] : path)
    })
  return walk(args, [])
}

const fields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
  Object.values(type.getFields())
    .filter((field) => !elsewhere.has(field.name) && placesOf(field).length > 0)
    .map((field) => [field.name, field, type.name.toLowerCase()] as const),
)

function kindOf(field: Field, { path }: Place): string {
  const name = path.filter((part) => !["eq", "in", "0"].includes(part)).at(-1)!
  if (name === "folderId") return /Assistant|^assistants$/.test(field.name) ? "assistantFolder" : "folder"
  const kind = name === "id" ? Object.keys(kindOfId).find((each) => kindOfId[each]!.test(field.name)) : kindOfName[name]
  if (!kind) throw new Error(`What does ${field.name}(${path.join(".")}) name? Say so in this file.`)
  return kind
}

/** One row of each kind. */
async function rowsOf(company: CompanyFixture): Promise<Record<string, string>> {
  const own = await belongings(company)
  const as = company.rest.as(company.token)
  const { data } = await gql(company.token, `mutation { createAssistantFolder(input: { name: "Drafts" }) { id } }`)
  await as.patch(`/api/assistants-new/${own["assistants"]}`, { folderId: data.createAssistantFolder.id }).expect(200)
  await company.question({ chatId: own["chats"]!, assistantId: own["assistants"] })
  await company.guardrailHit({ chatId: own["chats"]!, assistantId: own["assistants"], messageId: own["messages"] })
  const chat = (await as.get(`/api/chats/${own["chats"]}`).expect(200)).body
  await as.post(`/api/assistant-tools-new/${own["assistant-tools-new"]}/test`, { params: {} }).expect(201)
  const log = (await as.get(`/api/assistant-tools-new/${own["assistant-tools-new"]}/logs`).expect(200)).body.data
  const upload = async () =>
    (await as.ask("post", "/api/media/upload").attach("file", Buffer.from("Notes"), "notes.txt").expect(201)).body.id
  return {
    company: company.id,
    assistant: own["assistants"]!,
    assistantFolder: data.createAssistantFolder.id,
    tool: own["assistant-tools-new"]!,
    toolCall: log[0].id,
    knowledge: own["assistant-knowledge-new"]!,
    chat: own["chats"]!,
    folder: own["chat-folders"]!,
    tag: own["tags"]!,
    comment: chat.meta.comments[0].id,
    message: own["messages"]!,
    call: own["calls-history"]!,
    server: own["mcp-servers"]!,
    webhook: own["event-webhooks"]!,
    delivery: own["deliveries"]!,
    token: own["access-tokens"]!,
    stretch: own["stretches"]!,
    question: own["unanswered-questions"]!,
    channel: company.widget.id,
    member: company.member.id,
    media: await upload(),
    file: await upload(),
  }
}

let count = 0
const fresh = (word: string) => `${word}${++count}`

/** Valid values of required arguments that are no IDs. */
const given = (): Values => ({
  name: fresh("Name"),
  text: "Hello",
  label: "VIP",
  isUnderAiControl: false,
  rating: 4,
  question: "How was our help?",
  since: "2026-01-31T09:15:00.123Z",
  tools: [],
  guardrails: { card: { customer: "LOG", answer: "MASK" } },
})

/** Valid inputs by their type, without IDs that may be absent. */
const inputs: Record<string, (own: Record<string, string>) => Values> = {
  CreateAssistantInput: () => ({ name: "Helper", isDraft: true }),
  UpdateAssistantInput: () => ({ isDraft: true }),
  CopyAssistantInput: () => ({}),
  CreateAssistantFolderInput: () => ({ name: "Drafts" }),
  UpdateAssistantFolderInput: () => ({ name: "Renamed" }),
  CreateAssistantToolInput: ({ assistant }) => ({
    assistantId: assistant,
    name: fresh("tool"),
    description: "Looks.",
    apiCallUrl: "https://example.com/",
  }),
  UpdateAssistantToolInput: () => ({ description: "Looks closely." }),
  OriginateCallInput: () => ({ phoneNumber: "+380441234567" }),
  CreateChatInput: () => ({ messenger: "PLAYGROUND", fromId: "playground", externalId: fresh("visitor") }),
  UpdateChatInput: () => ({ name: "Renamed" }),
  CreateChatFolderInput: () => ({ name: "Returns" }),
  UpdateChatFolderInput: () => ({ name: "Renamed" }),
  CreateChatTagInput: () => ({ name: fresh("Tag") }),
  UpdateChatTagInput: () => ({ name: fresh("Tag") }),
  CreateEventWebhookInput: () => ({ url: "http://127.0.0.1:9/", types: ["CHANNEL_UPDATED"] }),
  UpdateEventWebhookInput: () => ({ ordered: true }),
  CreateKnowledgeItemInput: ({ assistant, file }) => ({
    assistantId: assistant,
    name: "Prices",
    kind: "FILE",
    fileId: file,
    isVector: true,
  }),
  UpdateKnowledgeItemInput: () => ({ name: "Renamed" }),
  QueryKnowledgeInput: ({ assistant }) => ({ assistantId: assistant, query: "When are you open?" }),
  CreateMcpServerInput: () => ({ name: "shop", url: "http://127.0.0.1:9/mcp" }),
  UpdateMcpServerInput: () => ({ name: "Renamed" }),
  CreateMessageInput: ({ chat }) => ({ chatId: chat, text: "Hello" }),
}

/** Valid arguments with all required IDs, and with an ID at a place. */
function argumentsWith(field: Field, own: Record<string, string>, place: Place, id: string): Values {
  const values: Values = {}
  const isNeeded = (arg: GraphQLArgument) => isRequiredArgument(arg) || neverAbsent.includes(`${field.name}(${arg.name})`)
  for (const arg of field.args) {
    const named = getNamedType(arg.type)
    if (isInputObjectType(named) && inputs[named.name]) values[arg.name] = inputs[named.name]!(own)
    else if (named.name === "UUID" && isNeeded(arg)) {
      const of = placesOf(field).find(({ path }) => path.length === 1 && path[0] === arg.name)!
      values[arg.name] = of.isList ? [own[kindOf(field, of)]] : own[kindOf(field, of)]
    } else if (isNeeded(arg)) values[arg.name] = given()[arg.name]
  }
  let at: Values = values
  for (const [index, part] of place.path.slice(0, -1).entries()) {
    at[part] ??= place.path[index + 1] === "0" ? [] : {}
    // A tool of a server also needs its name.
    if (part === "0") at[part] = { name: "look", ...(at[part] as Values) }
    at = at[part] as Values
  }
  at[place.path.at(-1)!] = place.isList ? [id] : id
  return values
}

/** All fields of a type that take no arguments, to a depth. */
function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ""
  const selected = Object.values(named.getFields()).flatMap((field) => {
    if (field.args.some(isRequiredArgument)) return []
    if (isLeafType(getNamedType(field.type))) return [field.name]
    return depth > 1 && !["stats", "pageInfo"].includes(field.name) ? [`${field.name} ${selectionOf(field.type, depth - 1)}`] : []
  })
  return `{ ${["__typename", ...selected].join(" ")} }`
}

/** What the operation answers, without what is different each time. */
async function answerTo(field: Field, operation: string, values: Values): Promise<unknown> {
  const used = field.args.filter(({ name }) => name in values)
  const variables = used.map(({ name, type }) => `$${name}: ${type}`).join(", ")
  const passed = used.map(({ name }) => `${name}: $${name}`).join(", ")
  const selection = selectionOf(field.type, /Connection|Page|Matches|^Chat\b/.test(String(field.type)) ? 2 : 1)
  const query = `${operation} (${variables}) { ${field.name}(${passed}) ${selection} }`
  const { status, data, errors } = await gql({ Authorization: `Bearer ${acme.owner.jwt}` }, query, values)
  return { status, data, errors: errors?.map(({ message, path, extensions: { requestId: _, ...rest } }) => ({ message, path, ...rest })) }
}

const without = (answer: unknown, id: string) => JSON.parse(JSON.stringify(answer).replaceAll(id, "an ID"))

let foreign: Record<string, string>
let before: string
beforeAll(async () => {
  foreign = await rowsOf(globex)
  before = await everythingOf(w, globex.id)
})

promised.each(fields)(
  "%s answers an ID of another company like one that does not exist",
  async (_name: string, field: Field, operation: string) => {
    for (const place of placesOf(field)) {
      const own = await rowsOf(acme)
      const where = `${field.name}(${place.path.join(".")})`
      const kind = kindOf(field, place)
      const [theirs, nobodys] = [foreign[kind]!, v7()]
      const answer = async (id: string) => without(await answerTo(field, operation, argumentsWith(field, own, place, id)), id)
      const unknown = await answer(nobodys)
      expect({ where, answer: await answer(theirs) }).toEqual({ where, answer: unknown })
      // Otherwise the arguments would be refused whatever the ID is.
      if (!alwaysAlike[where]) expect({ where, answer: await answer(own[kind]!) }).not.toEqual({ where, answer: unknown })
    }
  },
)

it("changed nothing of the other company", async () => {
  expect(await everythingOf(w, globex.id)).toBe(before)
  await rest.as(globex.token).get(`/api/chats/${foreign["chat"]}`).expect(200)
})
