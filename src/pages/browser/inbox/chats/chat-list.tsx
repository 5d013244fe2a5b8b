import { useVirtualizer } from "@tanstack/react-virtual"
import type { ResultOf } from "gql.tada"
import { useEffect, useMemo, useRef, useState } from "react"
import { Link } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { useAction } from "../kit/help.js"
import { inboxLimits } from "../kit/limits.js"
import { usePages } from "../kit/live.js"
import { Failure } from "../kit/notices.js"
import { type Chat, chatsQuery } from "../kit/operations.js"
import { authorOf, previewOf, shortTime, titleOf, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { FilterBar } from "./filter-bar.js"
import { byRecency, conditions, filtersOf, isShown } from "./filters.js"

/** The chats of the company that the filters show, most recent activity first. */
function useChats() {
  const { me, companyId } = usePlace()
  const { query } = useAddress()
  const key = query.toString()
  const filters = useMemo(() => filtersOf(new URLSearchParams(key)), [key])
  const source = useMemo(() => {
    const variables = {
      companyId,
      where: conditions(filters),
      first: inboxLimits.pageSize,
      ...(filters.search && { search: filters.search }),
    }
    return { document: chatsQuery, variables, connection: ({ chats }: ResultOf<typeof chatsQuery>) => chats }
  }, [companyId, filters])
  const { nodes, ...list } = usePages(source)
  const chats = useMemo(() => nodes.filter((chat) => isShown(chat, filters, me.id)).sort(byRecency), [nodes, filters, me])
  return { ...list, chats, isFiltered: Object.values(filters).some(Boolean) }
}

/** The list of chats with its search and filters; more are read while it is scrolled, and those in sight alone are in the page. */
export function ChatList({ selected }: { selected: string | undefined }) {
  const { chats, isFiltered, isLoading, hasMore, error, more } = useChats()
  const { go, to } = useAddress()
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: chats.length,
    getScrollElement: () => box.current,
    estimateSize: () => inboxLimits.itemHeight,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && !isLoading && !error && last >= chats.length - 15) more()
  }, [hasMore, isLoading, error, last, chats.length, more])
  function step(by: number) {
    const index = chats.findIndex(({ id }) => id === selected)
    const next = chats[index < 0 ? 0 : index + by]
    if (!next) return
    virtual.scrollToIndex(chats.indexOf(next))
    go(`/chats/${next.id}`)
  }
  useAction("next", () => step(1))
  useAction("previous", () => step(-1))
  return (
    <section className="list" aria-label={t("List of chats")} aria-busy={isLoading}>
      <Search />
      <FilterBar />
      <Failure error={error} again={more} />
      <div className="scroll" ref={box}>
        <ul aria-label={t("Chats")} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const chat = chats[index]!
            return (
              <li
                key={chat.id}
                aria-setsize={hasMore ? -1 : chats.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Link href={to(`/chats/${chat.id}`)} aria-current={chat.id === selected ? "page" : undefined}>
                  <ChatItem chat={chat} />
                </Link>
              </li>
            )
          })}
        </ul>
        {!isLoading && !error && chats.length === 0 && (
          <p className="nothing">
            {isFiltered
              ? t("No chat is like this. The search reads names, user names and telephone numbers, not messages.")
              : t("No chat yet. A chat begins with a customer’s first message.")}
          </p>
        )}
      </div>
    </section>
  )
}

function ChatItem({ chat }: { chat: Chat }) {
  const { lastMessage: message, unreadCount, needsAttention, isUnderAiControl, manager, messenger, tags } = chat
  const at = chat.lastMessageAt ?? chat.createdAt
  return (
    <>
      <span className="line">
        <bdi className="title">{titleOf(chat)}</bdi>
        <time dateTime={at}>{shortTime(at)}</time>
      </span>
      <span className="line">
        <span className="preview">
          {message && message.role !== "CUSTOMER" && `${message.role === "USER" ? t("Team") : authorOf({ ...message, author: null })}: `}
          <bdi>{message ? previewOf(message) : t("No message")}</bdi>
        </span>
        {unreadCount > 0 && (
          <span className="badge">
            {unreadCount}
            <span className="unseen"> {t("unread")}</span>
          </span>
        )}
      </span>
      <span className="line facts">
        <span>{wordOf(messenger)}</span>
        {needsAttention ? (
          <span className="attention">{t("Needs a person")}</span>
        ) : (
          !isUnderAiControl && message?.role === "CUSTOMER" && <span className="attention">{t("Waits for an answer")}</span>
        )}
        {isUnderAiControl && <span>{t("AI")}</span>}
        {manager && <bdi>{manager.name}</bdi>}
        {tags.map(({ id, name }) => (
          <bdi key={id} className="tag">
            {name}
          </bdi>
        ))}
      </span>
    </>
  )
}

/** The search field; the address follows when the user pauses. */
function Search() {
  const { query, path, go } = useAddress()
  const field = useRef<HTMLInputElement>(null)
  const found = query.get("search") ?? ""
  const [text, setText] = useState(found)
  useEffect(() => setText((typed) => (typed.trim() === found ? typed : found)), [found])
  useAction("search", () => field.current?.focus())
  useEffect(() => {
    if (text.trim() === found) return
    const timer = setTimeout(() => go(path, { search: text.trim() }, { replace: true }), inboxLimits.searchPauseMs)
    return () => clearTimeout(timer)
  }, [text, found, path, go])
  return (
    <search>
      <input
        ref={field}
        type="search"
        aria-label={t("Search chats")}
        placeholder={t("Search names and telephone numbers")}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </search>
  )
}
