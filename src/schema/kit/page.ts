import { sql } from "kysely"
import { Field, Int, ObjectType } from "type-graphql"
import { contextLimits } from "../../context/limits.js"
import { nodesOf } from "../../context/selection.js"
import type { Narrow, PlainRow, PlannedRow, Query, ReadModel, Selection } from "../../database/read-model.js"
import type { FilterTemplate, Reader } from "../../database/reader.js"
import type { EntityName } from "../../database/tables.js"
import { BadUserInput } from "../../errors/errors.js"
import { cursorOf, cursorValues, ordered, type Paging, pageQuery, pageTemplate } from "./paging.js"

@ObjectType({ description: "Position of a page in its list." })
export class PageInfo {
  @Field(() => Boolean, { description: "Whether more items follow after this page." })
  hasNextPage!: boolean

  @Field(() => Boolean, { description: "Whether the request had a cursor or an offset, so that items may precede this page." })
  hasPreviousPage!: boolean

  @Field(() => String, { nullable: true, description: "Cursor of the first item; null with offset paging." })
  startCursor!: string | null

  @Field(() => String, { nullable: true, description: "Cursor of the last item, for the next page; null with offset paging." })
  endCursor!: string | null
}

/** The resolved value of a Relay connection. */
export interface Connection<R extends PlainRow> {
  edges?: { cursor: string; node: R }[]
  nodes: R[]
  pageInfo: PageInfo
  totalCount?: number
}

type ItemClass = new (...args: never[]) => object

/** Declares the Relay connection type of an item; `words` name one and many of them where the name of the class does not. */
export function connectionOf(item: ItemClass, words = { one: `A ${item.name.toLowerCase()}`, many: `${item.name.toLowerCase()}s` }) {
  @ObjectType(`${item.name}Edge`, { description: `${words.one} with its cursor.` })
  class Edge {
    @Field(() => String, { description: "Cursor of the item; a request with this value as `after` continues after it." })
    cursor!: string

    @Field(() => item, { description: "The item." })
    node!: object
  }

  @ObjectType(`${item.name}Connection`, { description: `A page of ${words.many}.` })
  class ConnectionType {
    @Field(() => [Edge], { description: "The items with their cursors." })
    edges!: Edge[]

    @Field(() => [item], { description: "The items." })
    nodes!: object[]

    @Field(() => PageInfo, { description: "Position of the page in the list." })
    pageInfo!: PageInfo

    @Field(() => Int, { nullable: true, description: "Number of items in the whole list; computed only if selected." })
    totalCount!: number | null
  }
  return ConnectionType
}

/** Declares the offset page type of an item. */
export function pageOf(item: ItemClass, plural: string) {
  @ObjectType(`${item.name}Page`, { description: `A page of ${plural}.` })
  class PageType {
    @Field(() => [item], { description: "The items." })
    nodes!: object[]

    @Field(() => Int, { nullable: true, description: "Number of items in the whole list; computed only if selected." })
    totalCount!: number | null
  }
  return PageType
}

/** Returns the page size or its default; throws when it is out of bounds. */
export function pageSize(value: number | null | undefined, defaultSize: number, path = "first"): number {
  const size = value ?? defaultSize
  if (size < contextLimits.pageMin || size > contextLimits.pageMax)
    throw bad(path, `must be ${contextLimits.pageMin} to ${contextLimits.pageMax}`)
  return size
}

/** Returns the offset; throws when it is negative. */
export function pageOffset(value: number | null | undefined): number {
  const offset = value ?? 0
  if (offset < 0) throw bad("skip", "must not be negative")
  return offset
}

const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

/** Counts rows of companies without reading them. */
export type CountRows = (reader: Reader, companyIds: string[]) => Promise<number>

/** A list whose sizes are known without reading its rows. */
export interface SizedList<N extends EntityName> {
  /** Rows that the list has. */
  matching: CountRows
  /** Whether that number is kept; another one costs more the more rows match. */
  isKept: boolean
  /** Rows of the index that gives the order of the list, those of other lists among them. */
  walked: CountRows
  /** The filter of the list for reading all that match, where another one is faster than that for reading by the index. */
  gathered: Narrow<N> | null
}

/** Reads one page of a connection; counts the total only when it is selected. With a filter template the list is a query template too. */
export async function connection<N extends EntityName>(
  reader: Reader,
  model: ReadModel<N>,
  selection: Selection,
  walk: Paging,
  filter: FilterTemplate<N> | Narrow<N>,
  companyIds = reader.companyIds,
  sizes: SizedList<N> | null = null,
): Promise<Connection<PlannedRow<N>>> {
  const fields: Selection = { ...nodesOf(selection) }
  for (const key of walk.keys) fields[key.property] ??= {}
  const { rows, totalCount } = await readPage(reader, model, fields, walk, filter, Boolean(selection["totalCount"]), companyIds, sizes)
  return connectionOfRows(walk, rows, selection, totalCount)
}

/** Makes the connection of the rows of a page and one more. */
export function connectionOfRows<R extends PlainRow>(walk: Paging, rows: R[], selection: Selection, totalCount?: number): Connection<R> {
  const hasNextPage = rows.length > walk.size
  const nodes = rows.slice(0, walk.size)
  const cursorFor = (row: PlainRow) =>
    cursorOf(
      walk.list,
      walk.keys.map((key) => row[key.property]),
    )
  const byOffset = walk.skip !== null
  return {
    nodes,
    edges: selection["edges"] ? nodes.map((node) => ({ cursor: cursorFor(node), node })) : undefined,
    pageInfo: {
      hasNextPage,
      hasPreviousPage: Boolean(walk.after) || (walk.skip ?? 0) > 0,
      startCursor: byOffset || nodes.length === 0 ? null : cursorFor(nodes[0]!),
      endCursor: byOffset || nodes.length === 0 ? null : cursorFor(nodes.at(-1)!),
    },
    totalCount,
  }
}

interface PageRows<R> {
  rows: R[]
  totalCount?: number
}

/** Reads the rows of a page and one more, and the total if it is selected. */
async function readPage<N extends EntityName>(
  reader: Reader,
  model: ReadModel<N>,
  fields: Selection,
  walk: Paging,
  filter: FilterTemplate<N> | Narrow<N>,
  isCounted: boolean,
  companyIds: string[],
  sizes: SizedList<N> | null,
): Promise<PageRows<PlannedRow<N>>> {
  const start = cursorValues(walk)
  const page: Narrow<N> = (query) => pageQuery(query, walk, start)
  const order: Narrow<N> = (query) => ordered(query, walk)
  if (typeof filter !== "function") {
    const all: Narrow<N> = (query) => filter.build(query, filter.values)
    // Each offset would need its own prepared statement.
    const list = walk.skip ? (query: Query<N>) => page(all(query)) : pageTemplate(filter, walk, start)
    const count = () => sizes?.matching(reader, companyIds) ?? reader.count(model, all, companyIds)
    const [rows, totalCount] = await Promise.all([reader.list(model, fields, list, companyIds), isCounted ? count() : undefined])
    return { rows, totalCount }
  }
  const known = sizes && (isCounted || sizes.isKept) ? await knownSize(reader, walk, sizes, companyIds) : null
  const isRare = known ? known.isRare : isCounted && (await isSelective(reader, model, walk, filter, companyIds))
  const keys = walk.keys.map(({ column }) => column)
  if (isRare) return reader.counted(model, fields, { filter: sizes?.gathered ?? filter, keys, page, order }, companyIds)
  const [rows, totalCount] = await Promise.all([
    reader.list(model, fields, (query) => page(filter(query)), companyIds),
    isCounted ? (known?.matching ?? reader.count(model, filter, companyIds)) : undefined,
  ])
  return { rows, totalCount }
}

/** How many rows match, and whether these are fewer than the index has to be read for until a page of matches is found. */
async function knownSize<N extends EntityName>(reader: Reader, walk: Paging, sizes: SizedList<N>, companyIds: string[]) {
  const [matching, walked] = await Promise.all([sizes.matching(reader, companyIds), sizes.walked(reader, companyIds)])
  return { matching, isRare: matching ** 2 * gatherCost < (walk.size + (walk.skip ?? 0)) * walked }
}

/** What it costs to find one row among all that match, where reading one of the index costs 1. */
const gatherCost = 4

/** Whether a filter matches so few rows that scanning until a page is full costs more than sorting all matches, which are counted anyway. */
async function isSelective<N extends EntityName>(
  reader: Reader,
  model: ReadModel<N>,
  walk: Paging,
  filter: Narrow<N>,
  companyIds?: string[],
): Promise<boolean> {
  const near = { ...walk, size: walk.size * selectivity, skip: null }
  const nearest = pageQuery(reader.scoped(model, companyIds), near, cursorValues(walk)).select(sql.ref("t.id").as("id"))
  return (await reader.count(model, (query) => filter(query.where(sql<boolean>`t.id in ${nearest}`)), companyIds)) <= walk.size
}

/** A filter is rare when at most one in 10 rows matches. Both plans cost the same at one in 50, but that test would cost more. */
const selectivity = 10

/** Reads one page by offset, of the companies that `reach` returns or refuses once the paging is valid; counts the total only when it is selected. */
export async function offsetPage<N extends EntityName>(
  reader: Reader,
  model: ReadModel<N>,
  selection: Selection,
  paging: { skip?: number | null; take?: number | null; defaultTake: number },
  filter: Narrow<N>,
  order: Narrow<N>,
  reach?: () => string[],
) {
  const take = pageSize(paging.take, paging.defaultTake, "take")
  const skip = pageOffset(paging.skip)
  const companyIds = reach?.()
  const [nodes, totalCount] = await Promise.all([
    reader.list(model, selection["nodes"] ?? {}, (query) => order(filter(query)).offset(skip).limit(take), companyIds),
    selection["totalCount"] ? reader.count(model, filter, companyIds) : undefined,
  ])
  return { nodes, totalCount }
}
