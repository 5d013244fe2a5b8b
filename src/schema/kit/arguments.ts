import { Arg } from "type-graphql"
import { UUID } from "../../entities/kit/scalars.js"

/**
 * The argument `id` of a root field that reads or changes one object.
 * @example chat(@IdArg("chat") id: string)
 */
export const IdArg = (noun: string) => Arg("id", () => UUID, { description: `ID of the ${noun}.` })

/** The optional argument `companyId` of a list; without it the list covers all companies of the caller. */
export const CompanyArg = () =>
  Arg("companyId", () => UUID, {
    nullable: true,
    description: "ID of the company. Default: all companies that the credential can access.",
  })
