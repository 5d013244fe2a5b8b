import { AuditEntry } from "../entities/audit-entry.js"
import { type Command, change, UsageError } from "./kit.js"
import { adminLimits } from "./limits.js"
import { companyOf } from "./people.js"

/** The number of entries to print. */
function readTake(text: string | undefined): number {
  if (text === undefined) return adminLimits.auditTake
  const take = Number(text)
  if (/^\d+$/.test(text) && take >= 1 && take <= adminLimits.auditTakeMax) return take
  throw new UsageError(`--take must be a whole number from 1 to ${adminLimits.auditTakeMax}`)
}

/** Commands for the audit trail. */
export const auditCommands: Record<string, Command> = {
  "audit:list": {
    does: "Lists who changed what of a company, newest first: names of changed fields, no values.",
    options: {
      company: { required: true, description: "the company's id" },
      take: { description: `number of entries, 1 to ${adminLimits.auditTakeMax}; by default ${adminLimits.auditTake}` },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const newest = { orderBy: { createdAt: "desc", id: "desc" }, limit: readTake(options["take"]) } as const
      const entries = await change(desk, [companyId], ({ em }) => em.find(AuditEntry, { companyId }, newest))
      return entries.map((entry) => ({ ...entry }))
    },
  },
}
