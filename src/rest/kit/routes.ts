import { nullsOf, withFields } from "./fragments.js"

/** One REST route as data: what it does, the operation it runs, and how its parts map. */
export interface RouteRow {
  /** One sentence for the documentation. */
  does: string
  /** The GraphQL operation that it is, with `...Chat` for the fields of that resource; its variables are filled by name from path, query and body. */
  run: string
  /** The variable that takes the whole JSON body; `"fields"` when the body's fields are variables of their own. */
  body?: string
  /** The variable that takes the file of a multipart body; it is also the name of its part. */
  multipart?: string
  /** Query parameters that are called otherwise than their variable: REST name by variable. */
  rename?: Record<string, string>
  /** Names that `include` takes, each with the Boolean variable that it sets. */
  include?: Record<string, string>
  /** Fields of the body that have to be there although they may be null. */
  needs?: string[]
  /** Takes an `Idempotency-Key` header, as the input's `idempotencyKey`. */
  idempotent?: boolean
  /** With none of `take`, `cursor` and `skip` the whole list is answered, streamed. */
  whole?: boolean
  /** Answered as `{ data, totalCount, nextCursor }`: how its root field pages. */
  page?: "connection" | "offset"
  /** Statuses besides 401, 400 and 404 that the documentation names. */
  fails?: number[]
  /** 201 for POST and 200 otherwise, unless said so. */
  status?: number
  /** Counts as a sign-in attempt, whatever its body. */
  attempt?: boolean
}

/** A route with its address. */
export interface Route extends RouteRow {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** As documented, with `{id}` for a parameter. */
  path: string
  tag: string
  /** Fields that are always present, and null where the operation does not include them. */
  nulls: string[]
}

/** Declares the routes of a feature: `"GET /api/chats/{id}"` and its row. */
export const routes = (tag: string, rows: Record<string, RouteRow>): Route[] =>
  Object.entries(rows).map(([address, row]) => {
    const [method, path] = address.split(" ") as [Route["method"], string]
    return { ...row, run: withFields(row.run), nulls: nullsOf(row.run), method, path, tag }
  })
