import { Extensions } from "type-graphql"
import type { EntityName, Properties } from "../../database/tables.js"

/**
 * The columns of its parent that a field resolver reads, `@Needs<"Member">("userId")`; the ID and the company ID are always loaded. Without
 * this decorator a field resolver gets all columns of its parent.
 */
export const Needs = <N extends EntityName>(...columns: (keyof Properties<N> & string)[]) => Extensions({ needs: columns })
