import type { SnakeCase } from "@mikro-orm/postgresql"
import type { entities } from "./options.js"
import type { StoredEntities } from "./tables.generated.js"

/** Class name of an entity. */
export type EntityName = keyof StoredEntities

/** The type that the driver returns for a column: times stay text. */
type Read<T> = T extends Date ? string : T

type Stored<N extends EntityName> = Extract<keyof InstanceType<(typeof entities)[N]>, StoredEntities[N]["properties"]>

/** Stored properties of an entity, with the types that a read returns. */
export type Properties<N extends EntityName> = {
  [P in Stored<N>]: P extends StoredEntities[N]["texts"] ? string : Read<InstanceType<(typeof entities)[N]>[P]>
}

/** Columns of an entity's table. */
export type Columns<N extends EntityName> = { [P in keyof Properties<N> & string as SnakeCase<P>]: Properties<N>[P] } & {
  [C in keyof StoredEntities[N]["embedded"]]: Embedded<InstanceType<(typeof entities)[N]>, StoredEntities[N]["embedded"][C]>
}

/** Type of a column that stores a property of an embedded object. */
type Embedded<E, Path> = Path extends `${infer O extends keyof E & string}.${infer P}` ? Read<E[O][P & keyof E[O]]> : never

/** Some columns of a table by name: the row type of a statement in SQL text. */
export type RowOf<N extends EntityName, C extends keyof Columns<N>> = Pick<Columns<N>, C>

/** Every table with its columns; the types of Kysely's queries. */
export type Tables = { [N in EntityName as StoredEntities[N]["table"]]: Columns<N> }
