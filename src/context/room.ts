import type { EntityClass, FilterQuery } from "@mikro-orm/postgresql"
import type { Statement } from "../database/unit-of-work.js"
import type { CompanyOwned } from "../entities/kit/row.js"
import { BadUserInput } from "../errors/errors.js"
import { contextLimits } from "./limits.js"
import type { RequestContext } from "./request-context.js"

const lockCompany: Statement = {
  name: "lock-company",
  text: "select id from company where id = $1 and id = any($2::uuid[]) for no key update",
}

/**
 * Throws when a company has as many rows of an entity as it may have: lists without pages return all of them. Until this transaction ends, no
 * other one finds room in the company.
 */
export async function mustHaveRoom<T extends CompanyOwned>(
  tx: RequestContext,
  entity: EntityClass<T>,
  companyId: string,
  nouns: string,
  { most = contextLimits.plainListRows as number, where = {} as FilterQuery<T> } = {},
): Promise<void> {
  await tx.run(lockCompany, [companyId, tx.companyIds])
  const rows = await tx.em.count(entity, { ...(where as object), companyId } as FilterQuery<T>)
  if (rows >= most) throw noRoom(most, nouns)
}

/** The error of a company that has as many rows as it may have. */
export const noRoom = (most: number, nouns: string) => new BadUserInput(`A company has at most ${most} ${nouns}`)
