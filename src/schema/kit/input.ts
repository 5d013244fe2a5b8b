import { Field, InputType, ObjectType } from "type-graphql"
import type { Row } from "../../entities/kit/row.js"
import { UUID } from "../../entities/kit/scalars.js"
import { BadUserInput } from "../../errors.js"
import type { Viewer } from "./viewer.js"

/** An input that may say which company the new thing belongs to. */
@InputType()
export abstract class InCompany {
  @Field(() => UUID, { nullable: true, description: "The company; the token's, or the user's only one, when absent." })
  companyId?: string | null
}

/** An input that may also carry a key under which a repeat is answered like the first. */
@InputType()
export abstract class InCompanyOnce extends InCompany {
  @Field(() => String, { nullable: true, description: "Under the same key a repeat within 24 hours gets the first answer." })
  idempotencyKey?: string | null
}

@ObjectType({ description: "That something was deleted." })
export class DeleteResult {
  @Field(() => UUID, { description: "What was deleted." })
  id!: string

  @Field(() => Boolean, { description: "True." })
  deleted!: boolean
}

/** Deletes a row and says so. */
export function deleted(viewer: Viewer, row: Row): DeleteResult {
  viewer.em.remove(row)
  return { id: row.id, deleted: true }
}

/** Writes an input on a row: an absent field stays as it is, null clears a nullable field and is refused on any other. */
export function patch<T extends Row>(viewer: Viewer, row: T, input: object): T {
  const columns = viewer.em.getMetadata().get(row.constructor as never).properties as Record<string, { nullable?: boolean }>
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const details = given
    .filter(([field, value]) => value === null && !columns[field]?.nullable)
    .map(([path]) => ({ path, message: "must not be null" }))
  if (details.length > 0) throw new BadUserInput(`${details.map((detail) => detail.path).join(", ")} must not be null`, details)
  return Object.assign(row, Object.fromEntries(given))
}
