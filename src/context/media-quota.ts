import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { MediaQuotaExceeded } from "../errors/errors.js"
import type { ArrivingForm, QuotaLeft } from "../media/upload.js"
import type { RequestContext } from "./request-context.js"

const usedBytes: Statement<RowOf<"MediaTally", "bytes">> = {
  name: "media-bytes-of-company",
  text: "select bytes from media_tally where company_id = $1 and company_id = any($2::uuid[])",
}

/**
 * What a company may still upload; null without a quota. Throws when the request declares more: it is refused before its file is read. What
 * holds is `mustBeWithinQuota()`, since other uploads may end meanwhile.
 */
export async function quotaLeft(context: RequestContext, companyId: string, form?: ArrivingForm): Promise<QuotaLeft | null> {
  const quota = context.services.config.mediaBytesPerCompany
  if (quota === 0) return null
  const [used] = await context.statement(usedBytes, [companyId, context.companyIds])
  const left = { bytes: quota - Number(used?.bytes ?? 0), error: new MediaQuotaExceeded(quota) }
  if (form && form.declaredBytes > left.bytes) throw left.error
  return left
}

/**
 * Throws when the files of a company, with those that this transaction stores, are beyond its quota. The trigger that counted them has locked
 * the company's sum, so that of uploads at the same time only those that fit together are stored; it is locked from here to the commit alone.
 */
export async function mustBeWithinQuota(tx: RequestContext, companyId: string): Promise<void> {
  const quota = tx.services.config.mediaBytesPerCompany
  if (quota === 0) return
  await tx.unit.flush()
  const [used] = await tx.run(usedBytes, [companyId, tx.companyIds])
  if (Number(used!.bytes) > quota) throw new MediaQuotaExceeded(quota)
}
