import { giveLines } from "../calls/lines.js"
import { workContext } from "../context/request-context.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const waitingCompanies: Statement<RowOf<"Call", "company_id">> = {
  name: "companies-with-waiting-calls",
  text: "select distinct company_id from call where status = 'queued'",
}

/** Gives free lines to waiting calls, and ends those whose wait is over; whatever else frees a line gives it at once. */
export const callLines: Sweep = {
  name: "call-lines",
  everySeconds: jobLimits.callSweepSeconds,
  async run(services) {
    for (const { company_id: companyId } of await unscoped(services.database, waitingCompanies, [])) {
      if (services.stopping.aborted) return
      await workContext(services, companyId, "call-lines", services.log).transaction((tx) => giveLines(tx, companyId))
    }
  },
}
