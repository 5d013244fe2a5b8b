import { nullsOf, withFields } from "./fragments.js"

/** One REST route as data: its summary, its operation, and the mapping of its parameters. */
export interface RouteRow {
  /** Summary of the route, one sentence for the documentation. */
  summary: string
  /** GraphQL operation, with `...Chat` for the fields of a resource; its variables are filled by name from path, query and body. */
  document: string
  /** Variable for the whole JSON body; `"fields"` when each field of the body is a variable. */
  body?: string
  /** Variable for the file of a multipart body, and the name of its part. */
  multipart?: string
  /** Query parameters whose name differs from their variable: REST name by variable. */
  rename?: Record<string, string>
  /** Names that `include` accepts, each with the Boolean variable that it sets. */
  include?: Record<string, string>
  /** Fields of the body that are required although they may be null. */
  requiredFields?: string[]
  /** Accepts an `Idempotency-Key` header, which becomes `idempotencyKey` of the input. */
  idempotent?: boolean
  /** Without `take`, `cursor` and `skip`, the response streams the whole list. */
  streamsAll?: boolean
  /** Field of the root field's value with the rows that `Accept: text/csv` returns: all of the list, streamed, whatever its page. */
  csv?: string
  /** Field of the root field's value that is the response; without it, the value itself is. */
  field?: string
  /** Paging of the root field; the response is `{ data, totalCount, nextCursor }`. */
  page?: "connection" | "offset"
  /** Statuses of errors for the documentation, besides 401, 400, 404 and others that follow from the route. */
  errorStatuses?: number[]
  /** Status of success; by default 201 for POST, otherwise 200. */
  status?: number
  /** Whether a request counts as a sign-in attempt, whatever its body. */
  countsAsSignIn?: boolean
}

/** A route with its method and path. */
export interface Route extends RouteRow {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Path with `{id}` for a parameter. */
  path: string
  tag: string
  /** Fields that are always in the response, as null when the operation does not include them. */
  nulls: string[]
}

/** Declares the routes of a feature by method and path, such as `"GET /api/chats/{id}"`. */
export const routes = (tag: string, rows: Record<string, RouteRow>): Route[] =>
  Object.entries(rows).map(([address, row]) => {
    const [method, path] = address.split(" ") as [Route["method"], string]
    return { ...row, document: withFields(row.document), nulls: nullsOf(row.document), method, path, tag }
  })
