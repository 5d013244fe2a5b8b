import { randomBytes } from "node:crypto"
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Services } from "../context/services.js"
import { inTransaction } from "../context/transaction.js"
import type { Scope } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { AccessToken } from "../entities/access-token.js"
import { Assistant } from "../entities/assistant.js"
import { Channel } from "../entities/channel.js"
import { Company, Member, Subscription } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import { Knowledge } from "../entities/knowledge.js"
import { User } from "../entities/user.js"
import { Conflict } from "../errors/errors.js"
import { hashPassword } from "../resolvers/kit/password.js"
import { writePast } from "./demo-past.js"
import { demoCare, demoHandOffMessage, demoKnowledge, demoPrompt } from "./demo-shop.js"
import { adminLimits } from "./limits.js"

/** Ids and credentials of the demo company; stored in DATA_DIR/demo.json, readable by the file's owner alone. */
export interface Demo {
  companyId: string
  assistantId: string
  /** Id of the widget's connection. */
  widgetId: string
  token: string
  email: string
  password: string
}

const companyById = { name: "demo-company", text: "select 1 from company where id = $1" }
const anyCompany = { name: "any-company", text: "select 1 from company limit 1" }

/** The demo company: created in an empty database, read from its file afterwards; null when the database has other companies. */
export async function prepareDemo(services: Services): Promise<Demo | null> {
  const file = join(services.config.dataDir, "demo.json")
  const known = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null
    throw error
  })
  const remembered: Demo | null = known && JSON.parse(known)
  // The file may belong to another database.
  if (remembered && (await unscoped(services.database, companyById, [remembered.companyId])).length > 0) return remembered
  if ((await unscoped(services.database, anyCompany)).length > 0) return null
  const demo = await makeDemo(services).catch((error) => {
    // Another instance that started on this database at the same time created it.
    if (error instanceof Conflict) return null
    throw error
  })
  if (!demo) return null
  await mkdir(services.config.dataDir, { recursive: true })
  await writeFile(`${file}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
  return demo
}

async function makeDemo(services: Services): Promise<Demo> {
  const password = randomBytes(9).toString("base64url")
  const passwordHash = await hashPassword(password)
  const company = Object.assign(new Company(), { name: "Lumen Lamps (demo)", voiceBalance: adminLimits.demoVoiceBalance })
  const inCompany = { companyId: company.id }
  const owner = Object.assign(new User(), { email: "owner@demo.example", name: "Demo Owner", passwordHash })
  const member = Object.assign(new Member(), { ...inCompany, userId: owner.id, role: "owner" })
  const subscription = Object.assign(new Subscription(), { ...inCompany, plan: "demo", status: "active", startsAt: clock.now() })
  const assistant = new Assistant()
  const greeting = "Hello! I am Lumen's assistant. How can I help?"
  const texts = { name: "Lumen assistant", prompt: demoPrompt, greeting, handOffMessage: demoHandOffMessage }
  Object.assign(assistant, { ...inCompany, ...texts, textModelId: services.models[0]!.id })
  const item = (name: string, resourceContent: string) =>
    Object.assign(new Knowledge(), { ...inCompany, assistantId: assistant.id, name, kind: "text", resourceContent } as const)
  const [knowledge, care] = [item("Shop handbook", demoKnowledge), item("Care of lamps", demoCare)]
  care.isVector = true
  care.afterUpdate({ resourceContent: demoCare }, {})
  const widget = new Channel()
  Object.assign(widget, { ...inCompany, messenger: "widget", externalId: "demo-site", name: "Demo website", assistantId: assistant.id })
  const token = AccessToken.issue(company.id, "Demo token", owner.id)
  const scope: Scope = { companyIds: [company.id], actor: { kind: "system", id: null }, action: "demo", request: null }
  await inTransaction(services, scope, async (unit) => {
    unit.em.persist([company, owner, member, subscription, assistant, knowledge, care, widget, token])
    await unit.flush()
    // The tools of the assistant, which came with it.
    await unit.em.flush()
    const rows = { companyId: company.id, assistantId: assistant.id, ownerId: owner.id, knowledge, siteId: widget.externalId }
    await writePast(unit, rows, clock.now())
  })
  return { companyId: company.id, assistantId: assistant.id, widgetId: widget.id, token: token.token!, email: owner.email, password }
}
