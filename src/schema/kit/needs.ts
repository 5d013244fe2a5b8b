import { Extensions } from "type-graphql"
import type { EntityName, Properties } from "../../database/tables.js"

/**
 * The columns of its parent that a field resolver reads, `@Needs<"Member">("userId")`; the id and the company are always there. A field resolver
 * without it gets all columns of its parent.
 */
export const Needs = <N extends EntityName>(...columns: (keyof Properties<N> & string)[]) => Extensions({ needs: columns })
