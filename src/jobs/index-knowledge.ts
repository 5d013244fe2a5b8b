import { indexItem } from "../knowledge/indexing.js"
import type { Job } from "./kit/scheduler.js"

/** A knowledge item is to be indexed. The work outlives the job: the lease on the row says who works. */
export const indexKnowledge: Job = {
  name: "index-knowledge",
  async run(services, companyId, id) {
    await indexItem(services, companyId, id)
  },
}
