import { isDeepStrictEqual } from "node:util"
import {
  type ChangeSet,
  ChangeSetType,
  type EntityClass,
  type EntityManager,
  type EntityProperty,
  type EventSubscriber,
  type FlushEventArgs,
} from "@mikro-orm/postgresql"
import { type AuditActorKind, AuditEntry } from "../entities/audit-entry.js"
import type { Actor } from "../entities/control-change.js"
import { type AuditRule, auditRuleOf } from "../entities/kit/audited.js"
import type { Row } from "../entities/kit/row.js"

/** What an entry of the audit trail says of a transaction: who opened it, for which action, and from where. */
export interface Origin {
  actor: Actor
  /** Name of the mutation, command or job; null where nothing that is audited may change. */
  action: string | null
  /** The request; null for commands and jobs. */
  request: { address: string; requestId: string } | null
}

const actorKinds: Record<Actor["kind"], AuditActorKind> = { user: "USER", token: "TOKEN", assistant: "SYSTEM", system: "SYSTEM" }

/** Properties that every row has; none of them is a change of its own. */
const common = new Set(["id", "companyId", "createdAt", "updatedAt"])

const trails = new WeakMap<object, AuditTrail>()

/** The audit trail of one transaction: an entry for each audited row that changes in it, written by the flush that writes the row. */
export class AuditTrail {
  /** The entries of this transaction by the IDs of their rows, because several flushes may change a row. */
  private readonly entries = new Map<string, AuditEntry>()

  constructor(
    private readonly em: EntityManager,
    private readonly origin: Origin,
  ) {
    trails.set(em, this)
  }

  /** Records what a statement changed without entities: the rows that it returned, and the names of the fields in the API. */
  changedByStatement<T extends Row>(entity: EntityClass<T>, rows: { id: string; company_id: string }[], changed: string[]) {
    for (const row of rows) this.em.persist(this.entry(entity.name, row.id, row.id, row.company_id, changed))
  }

  /** The entry for a change of a row, new or from an earlier flush; null for a change that has none. */
  entryFor(change: ChangeSet<Row>, rule: AuditRule): AuditEntry | null {
    const changed = changedFields(change, rule)
    if (!changed) return null
    const row = change.entity
    // A company belongs to itself.
    const { companyId = row.id } = row as { companyId?: string }
    return this.entry(change.meta.className, row.id, row[(rule.subjectId ?? "id") as "id"], companyId, changed)
  }

  private entry(subjectType: string, rowId: string, subjectId: string, companyId: string, changed: string[]): AuditEntry {
    const { actor, action, request } = this.origin
    if (!action) throw new Error(`A change of ${subjectType} belongs to the audit trail, so its transaction needs the name of an action`)
    const entry = this.entries.get(rowId) ?? new AuditEntry()
    this.entries.set(rowId, entry)
    return Object.assign(entry, {
      companyId,
      actorKind: actorKinds[actor.kind],
      actorId: actor.id,
      action,
      subjectType,
      subjectId,
      changed: [...new Set([...(entry.changed ?? []), ...changed])],
      address: request?.address ?? null,
      requestId: request?.requestId ?? null,
    })
  }
}

/** The changed fields of a row by their names in the API; null for a change that has no entry. */
function changedFields({ type, entity: row, payload, originalEntity, meta }: ChangeSet<Row>, rule: AuditRule): string[] | null {
  const isDeletion = type === ChangeSetType.DELETE || type === ChangeSetType.DELETE_EARLY
  const isCreation = type === ChangeSetType.CREATE
  if ((isDeletion || isCreation) && rule.isPart?.(row)) return null
  // Recorded when the deletion began.
  if (isDeletion) return rule.isBeingDeleted?.(row) ? null : []
  if (rule.isBeingDeleted?.(row)) return rule.isBeingDeleted(originalEntity as Partial<Row>) ? null : []
  const internal = typeof rule.internal === "function" ? rule.internal(row) : (rule.internal ?? [])
  const skipped = new Set<string>([...common, ...internal])
  // The columns of an embedded object count as the property that holds it.
  const columns: Record<string, EntityProperty> = meta.properties
  const properties = new Set(Object.keys(payload).map((key) => columns[key]?.embedded?.[0] ?? key))
  const initial = isCreation ? new (meta.class as unknown as new () => Row)() : null
  const changed = [...properties].filter(
    (property) => !skipped.has(property) && !(initial && isInitial(row, initial, property as keyof Row)),
  )
  if (changed.length === 0 && !isCreation) return null
  const names = rule.names as Record<string, string> | undefined
  return changed.map((property) => names?.[property] ?? property)
}

/** Whether a new row has the default of a property. */
const isInitial = (row: Row, initial: Row, property: keyof Row) => isDeepStrictEqual(row[property] ?? null, initial[property] ?? null)

/** Adds entries to every flush, so that no code can write an audited row without one. */
export const auditSubscriber: EventSubscriber = {
  onFlush({ em, uow }: FlushEventArgs) {
    for (const change of uow.getChangeSets() as ChangeSet<Row>[]) {
      const rule = auditRuleOf(change.meta.class)
      if (!rule) continue
      const trail = trails.get(em)
      if (!trail) throw new Error(`${change.meta.className} is audited, so it changes in a unit of work only`)
      const entry = trail.entryFor(change, rule)
      if (entry) uow.computeChangeSet(entry)
    }
  },
}
