import type { SnakeCase } from "@mikro-orm/postgresql"
import type { entities } from "./options.js"
import type { StoredEntities } from "./tables.generated.js"

/** The name of an entity, as its class is called. */
export type EntityName = keyof StoredEntities

/** What the driver makes of a column: a time stays text, as PostgreSQL writes it. */
type Read<T> = T extends Date ? string : T

type Stored<N extends EntityName> = Extract<keyof InstanceType<(typeof entities)[N]>, StoredEntities[N]["properties"]>

/** The stored properties of an entity, with the values that a read returns. */
export type Properties<N extends EntityName> = {
  [P in Stored<N>]: P extends StoredEntities[N]["texts"] ? string : Read<InstanceType<(typeof entities)[N]>[P]>
}

/** The columns of an entity's table. */
export type Columns<N extends EntityName> = { [P in keyof Properties<N> & string as SnakeCase<P>]: Properties<N>[P] } & {
  [C in keyof StoredEntities[N]["embedded"]]: Embedded<InstanceType<(typeof entities)[N]>, StoredEntities[N]["embedded"][C]>
}

/** The value of a column that holds a property of an embedded object. */
type Embedded<E, Path> = Path extends `${infer O extends keyof E & string}.${infer P}` ? Read<E[O][P & keyof E[O]]> : never

/** Some columns of a table, under their names: the row of a statement that is SQL text. */
export type RowOf<N extends EntityName, C extends keyof Columns<N>> = Pick<Columns<N>, C>

/** Every table with its columns: what Kysely types a query by. */
export type Tables = { [N in EntityName as StoredEntities[N]["table"]]: Columns<N> }
