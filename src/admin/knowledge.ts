import { LockMode } from "@mikro-orm/postgresql"
import { isUuid } from "../entities/kit/scalars.js"
import { Knowledge } from "../entities/knowledge.js"
import { type Command, change, Refusal } from "./kit.js"
import { companyOf } from "./people.js"

/** Throws a usage error for a value that is not a UUID. */
function idOf(noun: string, value: string | undefined): string | undefined {
  if (value && !isUuid(value)) throw new Refusal(`No ${noun} has the id ${value}`)
  return value?.toLowerCase()
}

/** Commands for knowledge items. */
export const knowledgeCommands: Record<string, Command> = {
  "knowledge:recrawl": {
    does: "Has pages looked at again: all of a company, of an assistant, or one; what is indexed stays searched until its new index is ready.",
    options: {
      company: { required: true, description: "the company's id" },
      assistant: { description: "only what this assistant knows" },
      id: { description: "only this knowledge item" },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const assistantId = idOf("assistant", options["assistant"])
      const id = idOf("knowledge item", options["id"])
      const where = { companyId, kind: "url" as const, ...(assistantId && { assistantId }), ...(id && { id }) }
      return change(desk, [companyId], async ({ em }) => {
        const items = await em.find(Knowledge, where, { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE })
        if (id && items.length === 0) throw new Refusal(`No url item has the id ${id}`)
        for (const item of items) item.recrawl()
        return items.map(({ id, assistantId, name, resourceUrl, indexStatus }) => ({ id, assistantId, name, resourceUrl, indexStatus }))
      })
    },
  },
}
