import { parseArgs } from "node:util"
import type { Config } from "../config.js"
import type { Database } from "../database/connect.js"
import { runUnit, Unit } from "../database/unit.js"
import { codePoints } from "../entities/kit/scalars.js"
import type { WakeUp } from "../schema/kit/services.js"
import { snapshotSelection } from "../schema/kit/snapshot.js"

/** What a command reaches. */
export interface Desk {
  config: Config
  database: Database
  wakeUp: Pick<WakeUp, "publish">
  encryptionKey: Buffer
}

/** An option of a command: whether it is needed, how long it may be, and what it says. */
export interface OptionRule {
  required?: boolean
  /** Taken as it stands; everything else is trimmed. */
  verbatim?: boolean
  /** Most characters. */
  max?: number
  description: string
}

/** One command of the administration command line. */
export interface Command {
  does: string
  options: Record<string, OptionRule>
  run(desk: Desk, options: Record<string, string | undefined>): Promise<object>
}

/** Bad usage: exit code 2. */
export class UsageError extends Error {}

/** A command that was understood and refused: exit code 1. */
export class Refusal extends Error {}

/** Reads the options of a command; an unknown, missing or repeated one is bad usage. */
export function readOptions(command: Command, args: string[]): Record<string, string | undefined> {
  const options = Object.fromEntries(Object.keys(command.options).map((name) => [name, { type: "string" as const, multiple: true }]))
  let values: Record<string, unknown>
  try {
    values = parseArgs({ args, options: { ...options, json: { type: "boolean" } }, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0])
  }
  const read: Record<string, string | undefined> = {}
  for (const [name, rule] of Object.entries(command.options)) {
    const given = (values[name] as string[] | undefined) ?? []
    if (given.length > 1) throw new UsageError(`--${name} is given twice`)
    const value = rule.verbatim ? given[0] : given[0]?.trim()
    if (rule.required && !value) throw new UsageError(`--${name} is needed: ${rule.description}`)
    if (value && rule.max && codePoints(value) > rule.max) throw new UsageError(`--${name} must be at most ${rule.max} characters`)
    read[name] = value
  }
  return read
}

/** Runs a change as one unit of work on the companies that it is about. */
export const change = <T>(desk: Desk, companyIds: string[], work: (unit: Unit) => Promise<T>): Promise<T> =>
  runUnit(new Unit(desk.database, { companyIds, actor: { kind: "system", id: null } }, snapshotSelection), work)

/** Refuses a word that is none of a list. */
export function oneOf<W extends string>(option: string, value: string | undefined, list: readonly W[]): W {
  if (list.includes(value as W)) return value as W
  throw new UsageError(`--${option} must be one of ${list.join(", ")}`)
}
