import { Field, Int, ObjectType } from "type-graphql"
import { contextLimits } from "../../context/limits.js"
import { nodesOf } from "../../context/selection.js"
import type { Narrow, PlainRow, Query, ReadModel, Selection } from "../../database/read-model.js"
import type { QueryTemplate, Reader } from "../../database/reader.js"
import { BadUserInput } from "../../errors.js"
import { cursorOf, ordered, placeOf, type Walk, walked, walkedFixed } from "./walk.js"

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

/** What a Relay connection of a type looks like once resolved. */
export interface Connection {
  edges?: { cursor: string; node: PlainRow }[]
  nodes: PlainRow[]
  pageInfo: PageInfo
  totalCount?: number
}

// biome-ignore lint/suspicious/noExplicitAny: the item is a class that type-graphql knows at run time.
type ItemClass = new (...args: any[]) => object

/** Declares the Relay connection type of an item. */
export function connectionOf(item: ItemClass) {
  @ObjectType(`${item.name}Edge`, { description: `A ${item.name.toLowerCase()} with its cursor.` })
  class Edge {
    @Field(() => String, { description: "Cursor of the item; a request with this value as `after` continues after it." })
    cursor!: string

    @Field(() => item, { description: "The item." })
    node!: object
  }

  @ObjectType(`${item.name}Connection`, { description: `A page of ${item.name.toLowerCase()}s.` })
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

/** Refuses a page size out of bounds. */
export function pageSize(value: number | null | undefined, standard: number, path = "first"): number {
  const size = value ?? standard
  if (size < contextLimits.pageMin || size > contextLimits.pageMax)
    throw bad(path, `must be ${contextLimits.pageMin} to ${contextLimits.pageMax}`)
  return size
}

/** Refuses a negative offset. */
export function pageOffset(value: number | null | undefined): number {
  const offset = value ?? 0
  if (offset < 0) throw bad("skip", "must not be negative")
  return offset
}

const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

/** Reads one page of a connection; the total is counted only when it is selected. A fixed filter makes a fixed statement. */
export async function connection(
  reader: Reader,
  source: ReadModel,
  selection: Selection,
  walk: Walk,
  filter: QueryTemplate | Narrow,
  companyIds?: string[],
): Promise<Connection> {
  const asked: Selection = { ...nodesOf(selection) }
  for (const key of walk.keys) asked[key.property] ??= {}
  const { rows, totalCount } = await found(reader, source, asked, walk, filter, Boolean(selection["totalCount"]), companyIds)
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

interface Found {
  rows: PlainRow[]
  totalCount?: number
}

/** The rows of a page with the one that follows, and how many the whole list has, where that is counted. */
async function found(
  reader: Reader,
  source: ReadModel,
  asked: Selection,
  walk: Walk,
  filter: QueryTemplate | Narrow,
  isCounted: boolean,
  companyIds?: string[],
): Promise<Found> {
  const place = placeOf(walk)
  const page: Narrow = (query) => walked(query, walk, place)
  const fits: Narrow = typeof filter === "function" ? filter : (query) => filter.build(query, filter.values)
  if (isCounted && typeof filter === "function" && (await isRare(reader, source, walk, filter, companyIds))) {
    const parts = { filter, keys: walk.keys.map(({ column }) => column), page, order: (query: Query) => ordered(query, walk) }
    return reader.counted(source, asked, parts, companyIds)
  }
  const [rows, totalCount] = await Promise.all([
    // An offset is not worth a statement of its own.
    typeof filter === "function" || walk.skip
      ? reader.list(source, asked, (query) => page(fits(query)), companyIds)
      : reader.fixedList(source, asked, walkedFixed(filter, walk, place), companyIds),
    isCounted ? reader.count(source, fits, companyIds) : undefined,
  ])
  return { rows, totalCount }
}

/** Whether so few rows fit a filter that reading on until a page is full costs more than taking it from all that were counted. */
async function isRare(reader: Reader, source: ReadModel, walk: Walk, filter: Narrow, companyIds?: string[]): Promise<boolean> {
  const near = { ...walk, size: walk.size * rarity, skip: null }
  const nearest = walked(reader.scoped(source, companyIds), near, placeOf(walk)).select("t.id")
  return (await reader.count(source, (query) => filter(query.where("t.id", "in", nearest)), companyIds)) <= walk.size
}

/** Of so many rows at most one fits a rare filter. Both ways cost the same where one in fifty fits, but to look that far costs more. */
const rarity = 10

/** Reads one page by offset; the total is counted only when it is selected. */
export async function offsetPage(
  reader: Reader,
  source: ReadModel,
  selection: Selection,
  asked: { skip?: number | null; take?: number | null; standard: number },
  filter: Narrow,
  order: Narrow,
  companyIds?: string[],
) {
  const take = pageSize(asked.take, asked.standard, "take")
  const skip = pageOffset(asked.skip)
  const [nodes, totalCount] = await Promise.all([
    reader.list(source, selection["nodes"] ?? {}, (query) => order(filter(query)).offset(skip).limit(take), companyIds),
    selection["totalCount"] ? reader.count(source, filter, companyIds) : undefined,
  ])
  return { nodes, totalCount }
}
