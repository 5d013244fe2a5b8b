import type { Row } from "./row.js"

/** How the audit trail records the changes of an entity. */
export interface AuditRule<T extends Row = Row> {
  /** Properties that only the server changes: a change of nothing else has no entry. As a function of the row where that depends on it. */
  internal?: readonly (keyof T & string)[] | ((row: T) => readonly (keyof T & string)[])
  /** Names of properties that the API calls otherwise. */
  names?: Partial<Record<keyof T & string, string>>
  /** Property with the ID by which the API knows the object; `id` by default. */
  subjectId?: keyof T & string
  /** Whether a row is created and deleted with the row that it belongs to, whose entry stands for both. */
  isPart?(row: T): boolean
  /** Whether the row is being deleted: the change to this is recorded as its deletion, because a job removes the row later. */
  isBeingDeleted?(row: Partial<T>): boolean
}

const rules = new Map<unknown, AuditRule>()

/**
 * Marks an entity whose changes are recorded in the audit trail.
 * @example @Audited<AccessToken>({ internal: ["lastUsedAt"] })
 */
export const Audited =
  <T extends Row>(rule: AuditRule<T> = {}) =>
  (entity: new (...args: never[]) => T) => {
    rules.set(entity, rule as unknown as AuditRule)
  }

/** The rule of an audited entity; undefined for any other. */
export const auditRuleOf = (entity: unknown): AuditRule | undefined => rules.get(entity)
