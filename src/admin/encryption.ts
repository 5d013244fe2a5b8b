import { parseEncryptionKey } from "../config/environment.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import { CannotUnseal, seal, sealMark, unseal } from "../entities/kit/sealed.js"
import { rootLimits } from "../limits.js"
import { type Command, type CommandContext, Refusal, UsageError } from "./kit.js"
import { adminLimits } from "./limits.js"

/** Every column that holds encrypted text; a test checks that none is missing. */
export const sealedColumns: readonly [table: string, column: string][] = [
  ["channel", "credentials"],
  ["assistant_tool", "sealed_secret"],
  ["mcp_server", "sealed_credentials"],
  ["event_webhook", "sealed_secret"],
  ["event_webhook", "sealed_previous_secret"],
]

const startOfAll = "00000000-0000-0000-0000-000000000000"

const statementsOf = (table: string, column: string): Record<"read" | "write", Statement<{ id: string; sealed: string }>> => ({
  read: {
    name: `sealed-${table}-${column}`,
    text: `select id, ${column} as sealed from ${table}
           where ${column} is not null and not starts_with(${column}, $1) and id > $2 order by id limit $3`,
  },
  // Only rows that are unchanged since they were read: a secret that was replaced meanwhile has the new key already.
  write: {
    name: `seal-${table}-${column}`,
    text: `update ${table} set ${column} = renewed.sealed from unnest($1::uuid[], $2::text[], $3::text[]) as renewed (id, was, sealed)
           where ${table}.id = renewed.id and ${table}.${column} = renewed.was returning ${table}.id`,
  },
})

/** The secret of an agent's tools derives from the key: agents at voice providers get the new one. */
const renewAgents: Statement = {
  name: "renew-voice-agents",
  text: "update assistant set voice_due_at = least(voice_due_at, $1) where voice_agent_id is not null",
}

interface Outcome {
  rotated: number
  /** Rows whose secret neither key decrypts. */
  lost: string[]
}

/** Re-encrypts a column once, with one transaction per batch. */
async function pass(desk: CommandContext, [table, column]: readonly [string, string], from: Buffer): Promise<Outcome> {
  const { read, write } = statementsOf(table, column)
  const outcome: Outcome = { rotated: 0, lost: [] }
  for (let after = startOfAll; ; ) {
    const rows = await unscoped(desk.database, read, [sealMark(desk.secrets.encryptionKey), after, adminLimits.sealedBatch])
    if (rows.length === 0) return outcome
    const texts = rows.map((row) => opened(row.sealed, from, desk.secrets.encryptionKey))
    outcome.lost.push(...rows.flatMap((row, at) => (texts[at] === null ? [`${table} ${row.id}`] : [])))
    const renewed = rows.flatMap((row, at) =>
      texts[at] == null ? [] : [[row.id, row.sealed, seal(texts[at], desk.secrets.encryptionKey)]],
    )
    const columns = [0, 1, 2].map((part) => renewed.map((each) => each[part]))
    outcome.rotated += (await unscoped(desk.database, write, columns)).length
    after = rows.at(-1)!.id
  }
}

/** Decrypts a text; null when neither key fits. */
function opened(sealed: string, ...keys: Buffer[]): string | null {
  try {
    return unseal(sealed, ...keys)
  } catch (error) {
    if (error instanceof CannotUnseal) return null
    throw error
  }
}

/** Commands for encryption at rest. */
export const encryptionCommands: Record<string, Command> = {
  "encryption:rotate": {
    does: "Encrypts every secret again, with the current ENCRYPTION_KEY. It may be stopped at any time and run again, also while the server runs.",
    options: {
      from: { secret: true, description: "the ENCRYPTION_KEY of before, as base64 or hexadecimal; by default ENCRYPTION_KEY_PREVIOUS" },
    },
    async run(desk, options) {
      const given = options["from"]
      const from = given ? parseEncryptionKey(given) : desk.config.encryptionKeyPrevious
      if (!given && !from) throw new UsageError("--from is needed, or ENCRYPTION_KEY_PREVIOUS: the ENCRYPTION_KEY of before")
      if (!from) throw new UsageError(`--from must be ${rootLimits.encryptionKeyBytes} bytes, written as base64 or hexadecimal`)
      const all: Outcome = { rotated: 0, lost: [] }
      for (const column of sealedColumns) {
        let last: Outcome
        do {
          last = await pass(desk, column, from)
          all.rotated += last.rotated
          // Repeated until nothing is left: an instance with the old key may have written meanwhile.
        } while (last.rotated > 0)
        all.lost.push(...last.lost)
      }
      await unscoped(desk.database, renewAgents, [clock.now()])
      const { rotated, lost } = all
      if (lost.length > 0) throw new Refusal(`Encrypted again: ${rotated}. Neither key decrypts ${lost.length}: ${lost.join(", ")}`)
      return { rotated }
    },
  },
}
