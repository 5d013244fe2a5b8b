import { z } from "zod"
import type { RowOf } from "../database/tables.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { Company, Member, memberRoles, Subscription, subscriptionPlans, subscriptionStatuses } from "../entities/company.js"
import { clock } from "../entities/kit/clock.js"
import { isUuid } from "../entities/kit/scalars.js"
import { Session, User } from "../entities/user.js"
import { hashPassword } from "../resolvers/kit/password.js"
import { type Command, type CommandContext, change, oneOf, Refusal, time, UsageError } from "./kit.js"

const listCompanies = { name: "list-companies", text: "select id, name from company order by created_at, id" }
const listUsers = {
  name: "list-users",
  text: `select u.id, u.email, u.name,
           coalesce(json_agg(json_build_object('companyId', m.company_id, 'role', m.role) order by m.company_id) filter (where m.id is not null), '[]') as companies
         from users u left join member m on m.user_id = u.id
         where $1::uuid is null or exists (select from member own where own.user_id = u.id and own.company_id = $1)
         group by u.id order by u.email`,
}
const listSubscriptions: Statement<RowOf<"Subscription", "id" | "company_id" | "plan" | "status" | "starts_at" | "ends_at">> = {
  name: "list-subscriptions",
  text: `select id, company_id, plan, status, starts_at, ends_at from subscription where $1::uuid is null or company_id = $1
         order by company_id`,
}
const usedPlans: Statement<RowOf<"Subscription", "plan">> = { name: "used-plans", text: "select distinct plan from subscription" }
const companyById: Statement<RowOf<"Company", "id" | "name">> = {
  name: "company-by-id",
  text: "select id, name from company where id = $1",
}

/** The company that an option names, by id; with a name it must have that too. */
export async function companyOf(desk: CommandContext, id: string, name?: string): Promise<string> {
  const [row] = isUuid(id) ? await unscoped(desk.database, companyById, [id]) : []
  if (!row) throw new Refusal(`No company has the id ${id}`)
  if (name !== undefined && name !== row.name) throw new Refusal(`The company with the id ${id} has another name: ${row.name}`)
  return row.id
}

const company = { company: { required: true, description: "the company's id" } }
const anyCompany = { company: { description: "the company's id; without it all companies" } }
/** The option that names a user. */
export const user = { user: { required: true, description: "the user's id or email" } }
const email = { email: { required: true, description: "the email address" } }
const password = { password: { required: true, verbatim: true, secret: true, description: "8 to 200 characters" } }

/** The user that an option names, by id or email. */
export async function userOf({ em }: UnitOfWork, named: string): Promise<User> {
  const name = named.toLowerCase()
  const found = await em.findOne(User, { [isUuid(name) ? "id" : "email"]: name })
  if (!found) throw new Refusal(`No user is called ${named}`)
  return found
}

const shownUser = ({ id, email, name }: User) => ({ id, email, name })

function readEmail(text: string): string {
  const read = z.email().safeParse(text.toLowerCase())
  if (!read.success) throw new UsageError("--email must be an email address")
  return read.data
}

/** The number of an option: not negative, and an integer where required. */
function amount(option: string, text: string | undefined, whole: boolean): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text === "" || !Number.isFinite(value) || value < 0 || (whole && !Number.isSafeInteger(value)) || value > 2_147_483_647)
    throw new UsageError(`--${option} must be a ${whole ? "whole " : ""}number, 0 or more`)
  return value
}

/** The plan of an option: a known one, or one that a company has, so that a typing error makes no new plan. */
async function planOf(desk: CommandContext, plan: string, isNew: boolean): Promise<string> {
  if (isNew) return plan
  const used = (await unscoped(desk.database, usedPlans)).map((row) => row.plan)
  const known = [...new Set<string>([...subscriptionPlans, ...used])].sort()
  if (known.includes(plan)) return plan
  throw new UsageError(`--plan must be one of ${known.join(", ")}; add --new-plan to introduce another one`)
}

/** Commands for companies, users, memberships, subscriptions and balances. */
export const peopleCommands: Record<string, Command> = {
  "company:create": {
    does: "Creates a company.",
    options: { name: { required: true, description: "the company's name" } },
    run: (desk, { name }) =>
      change(desk, [], async (unit) => {
        const made = Object.assign(new Company(), { name })
        unit.em.persist(made)
        return { id: made.id, name: made.name }
      }),
  },
  "company:list": { does: "Lists the companies.", options: {}, run: (desk) => unscoped(desk.database, listCompanies) },
  "user:list": {
    does: "Lists the users with their companies and roles, by email; with --company its members.",
    options: anyCompany,
    run: async (desk, options) =>
      unscoped(desk.database, listUsers, [options["company"] ? await companyOf(desk, options["company"]) : null]),
  },
  "user:create": {
    does: "Creates a user.",
    options: { ...email, ...password, name: { required: true, description: "the user's name" } },
    async run(desk, options) {
      const made = new User()
      Object.assign(made, {
        email: readEmail(options["email"]!),
        name: options["name"],
        passwordHash: await hashPassword(options["password"]!),
      })
      return change(desk, [], async (unit) => {
        unit.em.persist(made)
        return shownUser(made)
      })
    },
  },
  "user:set-password": {
    does: "Sets a user's password and ends all sessions.",
    options: { ...email, ...password, name: { description: "a new name" } },
    async run(desk, options) {
      const passwordHash = await hashPassword(options["password"]!)
      const { changed, ended } = await change(desk, [], async (unit) => {
        const changed = Object.assign(await userOf(unit, options["email"]!), { passwordHash })
        if (options["name"]) changed.name = options["name"]
        const sessions = await unit.em.find(Session, { userId: changed.id, endedAt: null })
        for (const session of sessions) session.endedAt = clock.now()
        return { changed, ended: sessions }
      })
      for (const session of ended) await desk.wakeUp.publish("credentials", session.id)
      return shownUser(changed)
    },
  },
  "member:add": {
    does: "Makes a user a member of a company, or changes the role.",
    options: { ...company, ...user, role: { required: true, description: memberRoles.join(", ") } },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const role = oneOf("role", options["role"], memberRoles)
      const member = await change(desk, [companyId], async (unit) => {
        const { id: userId } = await userOf(unit, options["user"]!)
        const member = (await unit.em.findOne(Member, { companyId, userId })) ?? Object.assign(new Member(), { companyId, userId })
        member.role = role
        unit.em.persist(member)
        return member
      })
      // An open socket reads its companies once: its client reconnects and sees the new ones.
      await desk.wakeUp.publish("credentials", member.userId)
      return { companyId, userId: member.userId, role }
    },
  },
  "member:remove": {
    does: "Takes a user out of a company.",
    options: { ...company, ...user, role: { description: "not needed" } },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const removed = await change(desk, [companyId], async (unit) => {
        const { id: userId } = await userOf(unit, options["user"]!)
        const member = await unit.em.findOne(Member, { companyId, userId })
        if (!member) throw new Refusal("The user is no member of this company")
        unit.em.remove(member)
        return { companyId, userId, role: member.role }
      })
      await desk.wakeUp.publish("credentials", removed.userId)
      return removed
    },
  },
  "subscription:list": {
    does: "Lists the subscriptions of all companies, or of one.",
    options: anyCompany,
    async run(desk, options) {
      const rows = await unscoped(desk.database, listSubscriptions, [options["company"] ? await companyOf(desk, options["company"]) : null])
      return rows.map(({ id, company_id: companyId, plan, status, starts_at, ends_at }) => {
        return { id, companyId, plan, status, startsAt: new Date(starts_at), endsAt: ends_at && new Date(ends_at) }
      })
    },
  },
  "subscription:set": {
    does: "Sets the company's current subscription.",
    options: {
      ...company,
      plan: { required: true, description: `name of the plan: ${subscriptionPlans.join(", ")}, or one that a company has` },
      "new-plan": { flag: true, description: "accepts a plan that no company has yet" },
      status: { required: true, description: subscriptionStatuses.join(", ") },
      "ends-at": { description: "ISO 8601; without it the subscription has no end" },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const plan = await planOf(desk, options["plan"]!, options["new-plan"] !== undefined)
      const status = oneOf("status", options["status"], subscriptionStatuses)
      const endsAt = time("ends-at", options["ends-at"])
      return change(desk, [companyId], async (unit) => {
        const current = (await unit.em.findOne(Subscription, { companyId })) ?? Object.assign(new Subscription(), { companyId })
        Object.assign(current, { plan, status, endsAt, startsAt: clock.now() })
        unit.em.persist(current)
        const { id, startsAt } = current
        return { id, companyId, plan, status, startsAt, endsAt }
      })
    },
  },
  "balance:set": {
    does: "Sets what a company may use.",
    options: {
      ...company,
      voice: { description: "minutes of calls" },
      "embedding-credits": { description: "knowledge searches" },
      "voice-lines": { description: "calls at the same time" },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const voiceBalance = amount("voice", options["voice"], false)
      const embeddingCredits = amount("embedding-credits", options["embedding-credits"], true)
      const voiceLines = amount("voice-lines", options["voice-lines"], true)
      return change(desk, [companyId], async (unit) => {
        const found = await unit.em.findOneOrFail(Company, { id: companyId })
        if (voiceBalance !== undefined) found.voiceBalance = voiceBalance
        if (embeddingCredits !== undefined) found.embeddingCredits = embeddingCredits
        if (voiceLines !== undefined) found.voiceLines = voiceLines
        return { companyId, voiceBalance: found.voiceBalance, embeddingCredits: found.embeddingCredits, voiceLines: found.voiceLines }
      })
    },
  },
}
