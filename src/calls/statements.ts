import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"

/** What calls need of a company, locked. */
export interface CompanyLine {
  name: string
  voiceBalance: number
  voiceLines: number
  /** Calls that occupy a line. */
  onLine: number
}

// Not locked against references: messages of the company are stored meanwhile.
const lock: Statement<{ name: string; voice_balance: number; voice_lines: number }> = {
  name: "lock-voice-lines",
  text: "select name, voice_balance, voice_lines from company where id = $1 and id = any($2::uuid[]) for no key update",
}

const count: Statement<{ on_line: number }> = {
  name: "count-calls-on-line",
  text: `select count(*)::integer as on_line from call
         where company_id = $1 and company_id = any($2::uuid[]) and status in ('dialing', 'in_progress')`,
}

const charge: Statement = {
  name: "charge-call",
  text: `update company set voice_balance = round((voice_balance - $3)::numeric, 4)::double precision
         where id = $1 and id = any($2::uuid[])`,
}

/** Locks the lines of a company: only one transaction at a time gives or frees them. Rows must be flushed before. */
export async function lockLines(tx: RequestContext, companyId: string): Promise<CompanyLine> {
  const [company] = await tx.run(lock, [companyId, tx.companyIds])
  // Counted after the lock is held, so that lines that others have given are counted.
  const [counted] = await tx.run(count, [companyId, tx.companyIds])
  const { name, voice_balance: voiceBalance, voice_lines: voiceLines } = company!
  return { name, voiceBalance: Number(voiceBalance), voiceLines, onLine: counted!.on_line }
}

/** Takes minutes from the voice balance, which may pass below 0. */
export async function chargeMinutes(tx: RequestContext, companyId: string, minutes: number): Promise<void> {
  await tx.run(charge, [companyId, tx.companyIds, minutes])
}
