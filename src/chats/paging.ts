import { BadUserInput } from "../errors/errors.js"
import { pageOffset, pageSize } from "../schema/kit/page.js"
import type { Paging } from "../schema/kit/paging.js"
import { chatLimits } from "./limits.js"

/** Which page of a list of chats is asked for, and in which order. */
interface PageOfChats {
  sortBy?: string | undefined
  sortOrder?: string | undefined
  first?: number | null | undefined
  after?: string | null | undefined
  skip?: number | null | undefined
}

const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

/** Paging of lists of chats: by cursor or offset when sorted by recency, otherwise by offset. */
export function pagingOfChats({ sortBy, sortOrder, first, after, skip }: PageOfChats): Paging {
  const byRecency = sortBy !== "createdAt"
  if (after && skip != null) throw bad("cursor", "cannot be combined with skip")
  if (after && !byRecency) throw bad("cursor", "cannot be combined with sortBy=createdAt, which pages by skip")
  const column = byRecency ? "recency" : "created_at"
  const descending = sortOrder !== "ASC"
  return {
    list: `chats ${descending ? "desc" : "asc"}`,
    keys: [
      { property: byRecency ? "recency" : "createdAt", column, type: "timestamptz" },
      { property: "id", column: "id", type: "uuid" },
    ],
    descending,
    size: pageSize(first, chatLimits.pageDefault),
    after,
    skip: skip == null && byRecency ? null : pageOffset(skip),
  }
}
