import { randomUUID } from "node:crypto"
import { v7 } from "uuid"
import { type RequestContext, systemContext } from "../../src/context/request-context.js"
import type { Services } from "../../src/context/services.js"
import type { UnitOfWork } from "../../src/database/unit-of-work.js"
import { AccessToken } from "../../src/entities/access-token.js"
import { Assistant } from "../../src/entities/assistant.js"
import { Call } from "../../src/entities/call.js"
import { Channel, type Messenger } from "../../src/entities/channel.js"
import { Company, Member, type MemberRole, Subscription, type SubscriptionStatus } from "../../src/entities/company.js"
import { GuardrailHit } from "../../src/entities/guardrail-hit.js"
import { clock } from "../../src/entities/kit/clock.js"
import { Knowledge } from "../../src/entities/knowledge.js"
import { AskedQuestion, QuestionGroup } from "../../src/entities/question.js"
import { Stretch } from "../../src/entities/stretch.js"
import { Session, User } from "../../src/entities/user.js"
import { hashPassword } from "../../src/resolvers/kit/password.js"
import { issueTokenPair } from "../../src/resolvers/kit/tokens.js"
import type { World } from "./world.js"

/** The password of all users. */
export const password = "correct horse battery"
let passwordHash: Promise<string> | undefined

/** A user with a session. */
export interface Person {
  id: string
  email: string
  name: string
  sessionId: string
  jwt: string
  refreshToken: string
}

/** The initial rows of a company: its users, and everything that a chat needs. */
export interface CompanyRows {
  id: string
  name: string
  owner: Person
  admin: Person
  member: Person
  token: string
  tokenId: string
  assistant: { id: string; name: string }
  knowledge: { id: string; name: string }
  widget: { id: string; externalId: string }
}

// biome-ignore lint/suspicious/noExplicitAny: a resource as REST shows it.
type Resource = any
type Fields = Record<string, unknown>

/** A company with functions that create its data, over REST where that is possible, with the company's access token. */
export interface CompanyFixture extends CompanyRows {
  /** The REST client of its server. */
  rest: World["rest"]
  /** A chat on the playground with a new customer. */
  chat(fields?: Fields): Promise<Resource>
  /** An active connection, without credentials: a delivery over it fails when it is tried. */
  connection(messenger: Messenger, externalId: string): Promise<{ id: string }>
  /** A message: `{ chatId, text }`; by default "Hello" from the company. */
  message(fields?: Fields): Promise<Resource>
  folder(fields?: Fields): Promise<Resource>
  /** A tool of the assistant; by default nothing listens on its address. */
  tool(fields?: Fields): Promise<Resource>
  tag(fields?: Fields): Promise<Resource>
  /** An endpoint for events; by default nothing listens on its address, and no test makes such events. */
  eventWebhook(fields?: Fields): Promise<Resource>
  /** An MCP server; by default nothing listens on its address. */
  mcpServer(fields?: Fields): Promise<Resource>
  makeAssistant(fields?: Fields): Promise<Resource>
  makeKnowledge(fields?: Fields): Promise<Resource>
  /** A new user with a session who is a member of this company, or a membership for an existing user. */
  person(role?: MemberRole, who?: Person): Promise<Person>
  /** The value of a new access token. */
  anotherToken(name?: string): Promise<string>
  /** Sets the voice balance in minutes, and the number of lines. */
  voice(fields: { balance?: number; lines?: number }): Promise<void>
  /** A finished call of the assistant. */
  call(fields?: Fields): Promise<{ id: string }>
  /** A guardrail hit in a chat. */
  guardrailHit(fields: { chatId: string } & Fields): Promise<{ id: string }>
  /** A question in a chat to which the search of the knowledge found nothing. */
  question(fields: { chatId: string } & Fields): Promise<{ id: string }>
  /** An ended stretch of a chat. */
  stretch(fields: { chatId: string } & Fields): Promise<{ id: string }>
  /** Sets the subscription; null removes it. */
  subscription(status: SubscriptionStatus | null, endsAt?: Date | null): Promise<void>
}

/** Creates a company with an owner, an admin, a member, a token, an assistant with a knowledge item, and a widget. */
export async function createCompany(services: Services, name: string): Promise<CompanyRows> {
  const id = v7()
  return systemContext(services, id, "test").transaction(async (tx) => {
    tx.unit.em.persist(Object.assign(new Company(), { id, name }))
    await tx.unit.flush()
    const owner = await enroll(tx, tx.unit, id, "owner", name)
    const admin = await enroll(tx, tx.unit, id, "admin", name)
    const member = await enroll(tx, tx.unit, id, "member", name)
    const token = AccessToken.issue(id, "Tests", owner.id)
    const value = token.token!
    const assistant = Object.assign(new Assistant(), {
      companyId: id,
      name: `${name}'s assistant`,
      prompt: `You answer the customers of ${name}.`,
      greeting: `Welcome to ${name}!`,
      textModelId: services.models.at(-1)!.id,
    })
    const subscription = Object.assign(new Subscription(), { companyId: id, plan: "pro", status: "active", startsAt: clock.now() })
    tx.unit.em.persist([token, assistant, subscription])
    await tx.unit.flush()
    const knowledge = Object.assign(new Knowledge(), {
      companyId: id,
      assistantId: assistant.id,
      name: "Opening hours",
      kind: "text",
      resourceContent: `${name} is open Monday to Friday from 9:00 to 18:00.`,
    })
    const widget = Object.assign(new Channel(), {
      companyId: id,
      messenger: "widget",
      externalId: `${name.toLowerCase()}-site`,
      name: `${name}'s site`,
      assistantId: assistant.id,
    })
    tx.unit.em.persist([knowledge, widget])
    return { id, name, owner, admin, member, token: value, tokenId: token.id, assistant, knowledge, widget }
  })
}

/** Creates a user with a session and a membership. */
async function enroll(
  context: RequestContext,
  unit: UnitOfWork,
  companyId: string,
  role: MemberRole,
  company: string,
  who?: Person,
): Promise<Person> {
  passwordHash ??= hashPassword(password)
  const user = new User()
  if (!who) {
    const name = `${role}-${user.id.slice(-6)}`
    Object.assign(user, { name, email: `${name}@${company.toLowerCase()}.example`, passwordHash: await passwordHash })
    unit.em.persist(user)
    await unit.flush()
  }
  unit.em.persist(Object.assign(new Member(), { companyId, userId: who?.id ?? user.id, role }))
  if (who) return who
  const session = Object.assign(new Session(), { userId: user.id })
  unit.em.persist(session)
  await unit.flush()
  const { accessToken: jwt, refreshToken } = issueTokenPair(context, session)
  return { id: user.id, email: user.email, name: user.name, sessionId: session.id, jwt, refreshToken }
}

/** Adds the functions that create data to the rows of a company. */
export function companyFixture(world: World, company: CompanyRows): CompanyFixture {
  const post = async (path: string, body: Fields) => (await world.rest.as(company.token).post(path, body).expect(201)).body
  const inTransaction = <T>(work: (tx: RequestContext) => Promise<T>) => systemContext(world.services, company.id, "test").transaction(work)
  return {
    ...company,
    rest: world.rest,
    chat: (fields = {}) => post("/api/chats", { messenger: "playground", fromId: "playground", externalId: `customer-${v7()}`, ...fields }),
    connection: (messenger, externalId) =>
      inTransaction(async ({ em }) => {
        const channel = Object.assign(new Channel(), { companyId: company.id, messenger, externalId, name: externalId })
        em.persist(channel)
        return channel
      }),
    message: (fields = {}) => post("/api/messages", { text: "Hello", ...fields }),
    folder: (fields = {}) => post("/api/chat-folders", { name: "Returns", ...fields }),
    tag: (fields = {}) => post("/api/chat-tags", { name: `Tag ${randomUUID()}`, ...fields }),
    eventWebhook: (fields = {}) => post("/api/event-webhooks", { url: "http://127.0.0.1:9/", types: ["CHANNEL_UPDATED"], ...fields }),
    mcpServer: (fields = {}) =>
      post(`/api/companies/${company.id}/mcp-servers`, { name: "shop", url: "http://127.0.0.1:9/mcp", ...fields }),
    tool: (fields = {}) =>
      post("/api/assistant-tools-new", {
        assistantId: company.assistant.id,
        name: `tool_${randomUUID()}`,
        description: "Tells the status of an order.",
        apiCallUrl: "http://127.0.0.1:9/",
        ...fields,
      }),
    makeAssistant: (fields = {}) => post("/api/assistants-new", { name: "Helper", ...fields }),
    makeKnowledge: (fields = {}) =>
      post("/api/assistant-knowledge-new", {
        assistantId: company.assistant.id,
        name: "Returns",
        kind: "text",
        resourceContent: "Returns are free for 30 days.",
        ...fields,
      }),
    person: (role = "member", who) => inTransaction((tx) => enroll(tx, tx.unit, company.id, role, company.name, who)),
    anotherToken: (name = "Another") =>
      inTransaction(async ({ unit }) => {
        const token = AccessToken.issue(company.id, name, company.owner.id)
        unit.em.persist(token)
        return token.token!
      }),
    voice: ({ balance, lines }) =>
      inTransaction(async ({ em }) => {
        const row = await em.findOneOrFail(Company, { id: company.id })
        Object.assign(row, { ...(balance !== undefined && { voiceBalance: balance }), ...(lines !== undefined && { voiceLines: lines }) })
      }),
    call: (fields = {}) =>
      inTransaction(async ({ em }) => {
        const finished = { status: "completed", endedReason: "customer_hung_up", duration: 61, source: "api", provider: "simulated" }
        const of = { companyId: company.id, assistantId: company.assistant.id, phoneNumber: "+380441234567" }
        const call = Object.assign(new Call(), of, finished, fields)
        em.persist(call)
        return { id: call.id }
      }),
    guardrailHit: (fields) =>
      inTransaction(async ({ em }) => {
        const found = { rule: "card", direction: "customer", action: "log", reason: "card_number", excerpt: "My card is ••••" }
        const hit = Object.assign(new GuardrailHit(), { companyId: company.id }, found, fields).recorded()
        em.persist(hit)
        return { id: hit.id }
      }),
    question: (fields) =>
      inTransaction(async ({ em }) => {
        const of = { companyId: company.id, assistantId: company.assistant.id }
        // In a group, so that the sweep leaves it as it is.
        const group = Object.assign(new QuestionGroup(), of, { embeddingId: "none", vector: [] })
        em.persist(group)
        const found = { callId: null, question: "Do you wrap gifts?", askedAt: clock.now(), groupId: group.id, closedAt: null }
        const question = Object.assign(new AskedQuestion(), of, found, fields)
        em.persist(question)
        return { id: question.id }
      }),
    stretch: (fields) =>
      inTransaction(async ({ em }) => {
        const [startedAt, endedAt] = [clock.now(), clock.now()]
        const times = { startedAt, endedAt, lastMessageAt: startedAt, checkAt: endedAt }
        const made = { companyId: company.id, messenger: "playground", assistantId: null, endReason: "PERSON", isUnderAi: false }
        const stretch = Object.assign(new Stretch(), made, times, fields)
        em.persist(stretch)
        return { id: stretch.id }
      }),
    subscription: (status, endsAt = null) =>
      inTransaction(async ({ unit }) => {
        await unit.em.nativeDelete(Subscription, { companyId: company.id })
        const made = { companyId: company.id, plan: "pro", status, startsAt: clock.now(), endsAt }
        if (status) unit.em.persist(Object.assign(new Subscription(), made))
      }),
  }
}
