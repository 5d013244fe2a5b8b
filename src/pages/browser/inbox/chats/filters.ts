import type { VariablesOf } from "gql.tada"
import type { Chat, chatsQuery } from "../kit/operations.js"

type Where = NonNullable<VariablesOf<typeof chatsQuery>["where"]>

/** What the list of chats shows, as the query of its address says. */
export interface Filters {
  search: string
  /** `me`, `none` or the ID of a user; empty for all. */
  manager: string
  unread: boolean
  /** Whether a person has to answer. */
  attention: boolean
  /** `on` or `off`; empty for both. */
  ai: string
  channel: string
  folder: string
  tag: string
}

/** The filters that an address names. */
export function filtersOf(query: URLSearchParams): Filters {
  const text = (name: string) => query.get(name) ?? ""
  const isSet = (name: string) => query.get(name) === "true"
  return {
    search: text("search"),
    manager: text("manager"),
    unread: isSet("unread"),
    attention: isSet("attention"),
    ai: text("ai"),
    channel: text("channel"),
    folder: text("folder"),
    tag: text("tag"),
  }
}

/** The filters as conditions of the server. */
export function conditions({ manager, unread, attention, ai, channel, folder, tag }: Filters): Where {
  return {
    ...(manager && { managerId: { eq: manager === "none" ? "null" : manager } }),
    ...(unread && { unread: { eq: true } }),
    ...(attention && { needsAttention: { eq: true } }),
    ...(ai && { isUnderAiControl: { eq: ai === "on" } }),
    ...(channel && { messenger: { eq: channel as Chat["messenger"] } }),
    ...(folder && { folderId: { eq: folder } }),
    ...(tag && { tagIds: { in: [tag] } }),
  }
}

/** Whether a chat is among those that the filters show; the search is the server's. */
export function isShown(chat: Chat, { manager, unread, attention, ai, channel, folder, tag }: Filters, userId: string): boolean {
  const managerId = manager === "me" ? userId : manager === "none" ? null : manager
  return (
    (!manager || chat.managerId === managerId) &&
    (!unread || chat.unreadCount > 0) &&
    (!attention || chat.needsAttention) &&
    (!ai || chat.isUnderAiControl === (ai === "on")) &&
    (!channel || chat.messenger === channel) &&
    (!folder || chat.folderId === folder) &&
    (!tag || chat.tags.some(({ id }) => id === tag))
  )
}

const recency = ({ lastMessageAt, createdAt }: Chat) => lastMessageAt ?? createdAt

/** The order of the list: most recent activity first. */
export const byRecency = (one: Chat, other: Chat): number => (recency(one) < recency(other) ? 1 : recency(one) > recency(other) ? -1 : 0)
