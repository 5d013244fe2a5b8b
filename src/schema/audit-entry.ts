import { readModel } from "../database/read-model.js"
import { AuditEntry } from "../entities/audit-entry.js"
import { connectionOf } from "./kit/page.js"

export const auditEntryReadModel = readModel("AuditEntry")

export const AuditEntryConnection = connectionOf(AuditEntry, { one: "An audit entry", many: "audit entries" })
