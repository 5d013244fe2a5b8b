import type { EntityClass } from "@mikro-orm/postgresql"
import { Field, InputType, ObjectType } from "type-graphql"
import type { RequestContext } from "../../context/request-context.js"
import type { Row } from "../../entities/kit/row.js"
import { UUID } from "../../entities/kit/scalars.js"
import { BadUserInput } from "../../errors/errors.js"

/** An input that may name the company of the new object. */
@InputType()
export abstract class InCompany {
  @Field(() => UUID, {
    nullable: true,
    description: "ID of the company. Default: the company of the access token, or the only company of the user.",
  })
  companyId?: string | null
}

/** An input that may also have an idempotency key. */
@InputType()
export abstract class InCompanyOnce extends InCompany {
  @Field(() => String, {
    nullable: true,
    description: "Idempotency key: a repetition of the request with the same key within 24 hours returns the first response.",
  })
  idempotencyKey?: string | null
}

@ObjectType({ description: "The result of a deletion." })
export class DeleteResult {
  @Field(() => UUID, { description: "ID of the deleted object." })
  id!: string

  @Field(() => Boolean, { description: "Always true." })
  deleted!: boolean
}

/** Deletes a row and returns the result of the mutation. */
export function deleted(context: RequestContext, row: Row): DeleteResult {
  context.em.remove(row)
  return { id: row.id, deleted: true }
}

/** Throws when a nullable argument is absent: null and absent mean different things to the command. */
export function mustBeGiven(path: string, value: unknown) {
  if (value === undefined) throw new BadUserInput(`${path} is required`, [{ path, message: "is required" }])
}

/** Finds the row that an input changes; null for a column that is not nullable is refused first, so that bad input is reported before a missing row. */
export async function findToChange<T extends Row>(
  context: RequestContext,
  entity: EntityClass<T>,
  id: string,
  input: object,
  noun?: string,
): Promise<T> {
  refuseNulls(context, entity, input)
  return context.find(entity, id, noun)
}

function refuseNulls(context: RequestContext, entity: EntityClass<Row>, input: object) {
  const details = nullsFor(context, entity, input).map((path) => ({ path, message: "must not be null" }))
  if (details.length > 0) throw new BadUserInput(`${details.map((detail) => detail.path).join(", ")} must not be null`, details)
}

/** The fields of an input that are null although their columns are not nullable. */
function nullsFor(context: RequestContext, entity: EntityClass<Row>, input: object): string[] {
  const columns = context.em.getMetadata().get(entity).properties as Record<string, { nullable?: boolean }>
  return Object.entries(input).flatMap(([field, value]) => (value === null && !columns[field]?.nullable ? [field] : []))
}

/**
 * Applies an input to a row: an absent field is unchanged, and null clears a nullable field and is refused for any other. On a new row,
 * null in a field that is not nullable means the default.
 */
export function patch<T extends Row>(context: RequestContext, row: T, input: object): T {
  const entity = row.constructor as EntityClass<Row>
  const isNew = !context.em.getUnitOfWork().getOriginalEntityData(row)
  const ignored = isNew ? nullsFor(context, entity, input) : []
  if (!isNew) refuseNulls(context, entity, input)
  const given = Object.entries(input).filter(([field, value]) => value !== undefined && !ignored.includes(field))
  return Object.assign(row, Object.fromEntries(given))
}
