import { parseArgs } from "node:util"
import type { Config } from "../config/config.js"
import type { Database } from "../database/connect.js"
import { commitUnit, type Statement, UnitOfWork, type UnitServices } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import type { Actor } from "../entities/control-change.js"
import { codePoints, isUuid } from "../entities/kit/scalars.js"
import type { SealingKeys } from "../entities/kit/sealed.js"
import type { WakeUp } from "../events/wake-up.js"

/** What a command reaches. */
export interface CommandContext extends UnitServices {
  config: Config
  database: Database
  wakeUp: Pick<WakeUp, "publish">
  secrets: SealingKeys
  /** Writes a line that does not fail the command on standard error. */
  warn(line: string): void
  /** Name of the command, for the audit trail. */
  action: string
}

/** An option of a command: whether it is required, its longest value, and its description. */
export interface OptionRule {
  required?: boolean
  /** Whether it takes no value; it is read as "true" when it is given. */
  flag?: boolean
  /** Whether its value may also be given without the option's name; one option of a command. */
  positional?: boolean
  /** Whether the value is kept as given; other values are trimmed. */
  verbatim?: boolean
  /** Whether `-` reads the value from standard input: what is on a command line, other users of the machine can see. */
  secret?: boolean
  /** Longest value in characters. */
  max?: number
  description: string
}

/** One command of the administration command line. */
export interface Command {
  does: string
  options: Record<string, OptionRule>
  run(context: CommandContext, options: Record<string, string | undefined>): Promise<object>
}

/** A command that opens its database itself, or works on the files of the embedded one. */
export interface OfflineCommand extends Pick<Command, "does" | "options"> {
  runOffline(config: Config, options: Record<string, string | undefined>): Promise<object>
}

/** Bad usage: exit code 2. */
export class UsageError extends Error {}

/** A valid command that is refused: exit code 1. */
export class Refusal extends Error {}

/** Reads the options of a command; an unknown, missing or repeated one is bad usage. */
export function readOptions(command: Pick<Command, "options">, args: string[]): Record<string, string | undefined> {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { flag }]) => [name, { type: flag ? ("boolean" as const) : "string", multiple: true }]),
  )
  const positional = Object.keys(command.options).find((name) => command.options[name]!.positional)
  let values: Record<string, unknown>
  try {
    const parsed = parseArgs({
      args,
      options: { ...options, json: { type: "boolean" } },
      strict: true,
      allowPositionals: positional !== undefined,
    })
    values = parsed.values
    if (positional && parsed.positionals.length > 0)
      values = { ...values, [positional]: [...((values[positional] as string[] | undefined) ?? []), ...parsed.positionals] }
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0])
  }
  const read: Record<string, string | undefined> = {}
  for (const [name, rule] of Object.entries(command.options)) {
    const given = ((values[name] as (string | boolean)[] | undefined) ?? []).map(String)
    if (given.length > 1) throw new UsageError(`--${name} is given twice`)
    const value = rule.verbatim ? given[0] : given[0]?.trim()
    if (rule.required && !value) throw new UsageError(`--${name} is needed: ${rule.description}`)
    if (value && rule.max && codePoints(value) > rule.max) throw new UsageError(`--${name} must be at most ${rule.max} characters`)
    read[name] = value
  }
  return read
}

const system: Actor = { kind: "system", id: null }

/** Runs a change in one transaction on the companies that it concerns. */
export const change = <T>(context: CommandContext, companyIds: string[], work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
  commitUnit(new UnitOfWork(context.database, { companyIds, actor: system, action: context.action, request: null }, context), work)

/** Reads the time of an option; null when it is not given. */
export function time(option: string, text: string | undefined): Date | null {
  if (!text) return null
  const read = new Date(text)
  if (Number.isNaN(read.getTime())) throw new UsageError(`--${option} must be a date, ISO 8601`)
  return read
}

/** Returns the option's value when it is in the list, else throws a usage error. */
export function oneOf<W extends string>(option: string, value: string | undefined, list: readonly W[]): W {
  if (list.includes(value as W)) return value as W
  throw new UsageError(`--${option} must be one of ${list.join(", ")}`)
}

/** The company of the row with this ID; refuses an unknown one. */
export async function companyOfRow(
  desk: CommandContext,
  statement: Statement<{ company_id: string }>,
  id: string,
  noun: string,
): Promise<string> {
  const [row] = isUuid(id) ? await unscoped(desk.database, statement, [id]) : []
  if (!row) throw new Refusal(`No ${noun} has the id ${id}`)
  return row.company_id
}
