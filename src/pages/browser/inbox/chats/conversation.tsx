import { useEffect, useId, useRef, useState } from "react"
import { useQuery } from "urql"
import { useAddress, usePlace } from "../kit/company.js"
import { useLastRead } from "../kit/forms.js"
import { useAction } from "../kit/help.js"
import { useConnected } from "../kit/live.js"
import { Failure, useMutate, useNotice } from "../kit/notices.js"
import {
  type Chat,
  type ChatWithComments,
  chatQuery,
  giveBack,
  type Message,
  markChatRead,
  markChatUnread,
  takeOver,
} from "../kit/operations.js"
import { titleOf, wordOf } from "../kit/texts.js"
import { useTitle } from "../kit/title.js"
import { t } from "../kit/words.js"
import { Composer } from "./composer.js"
import { Details } from "./details.js"
import { Log } from "./log.js"

const details = "inbox-details"

/** Whether the details fit beside the messages, as in `style/details.css`. */
const isWide = () => matchMedia("(min-width: 60rem)").matches

/** A chat: its messages, those around one of them if it is named, the field for a reply, and what a person can do with it. */
export function Conversation({ chatId, messageId }: { chatId: string; messageId?: string | undefined }) {
  const [{ data: answer, error, fetching }, again] = useQuery({
    query: chatQuery,
    variables: { id: chatId },
    requestPolicy: "cache-and-network",
  })
  const { companyId } = usePlace()
  const { path, go } = useAddress()
  const chat = useLastRead(answer, error, chatId)?.chat
  useEffect(() => {
    // A shared address need not say which company it is about.
    if (chat && chat.companyId !== companyId) go(path, { company: chat.companyId }, { replace: true })
  }, [chat, companyId, go, path])
  if (chat) return <ChatView chat={chat} messageId={messageId} />
  const isGone = error?.graphQLErrors.some(({ extensions }) => extensions["code"] === "NOT_FOUND")
  return (
    <section aria-label={t("Conversation")} className="conversation" aria-busy={fetching}>
      {isGone ? (
        <p className="nothing">{t("This chat does not exist, or not any more.")}</p>
      ) : (
        <Failure error={error} again={() => again({ requestPolicy: "network-only" })} />
      )}
    </section>
  )
}

function ChatView({ chat, messageId }: { chat: ChatWithComments; messageId: string | undefined }) {
  const [quoted, setQuoted] = useState<Message | null>(null)
  const [areDetailsOpen, setDetailsOpen] = useState(() => isWide() && sessionStorage.getItem(details) === "open")
  const { to } = useAddress()
  const read = useReadState(chat)
  useTitle(titleOf(chat))
  useChangesOfOthers(chat)
  function toggleDetails() {
    sessionStorage.setItem(details, areDetailsOpen ? "closed" : "open")
    setDetailsOpen(!areDetailsOpen)
  }
  return (
    <section aria-label={t("Conversation")} className="conversation">
      <div className="bar">
        <a className="back" href={`/inbox${to("/chats")}`} aria-label={t("Back to the chats")}>
          ←
        </a>
        <h2>
          <bdi>{titleOf(chat)}</bdi>
          <small>{wordOf(chat.messenger)}</small>
        </h2>
        <Control chat={chat} />
        <button type="button" onClick={read.markUnread}>
          {t("Mark as unread")}
        </button>
        <button type="button" aria-expanded={areDetailsOpen} onClick={toggleDetails}>
          {t("Details")}
        </button>
      </div>
      <div className="columns" data-details={areDetailsOpen || undefined}>
        <div className="middle">
          <Log chatId={chat.id} quote={setQuoted} messageId={messageId} />
          <Composer chat={chat} quoted={quoted} unquote={() => setQuoted(null)} />
        </div>
        {areDetailsOpen && <Details chat={chat} />}
      </div>
    </section>
  )
}

/** Who answers, and the button that changes it. */
function Control({ chat }: { chat: Chat }) {
  const { me } = usePlace()
  const mutate = useMutate()
  const [isChanging, setChanging] = useState(false)
  const meaning = useId()
  const { id, isUnderAiControl, manager } = chat
  // Nobody has taken a chat that the assistant passed on; its manager, if it has one, may be away.
  const isFree = isUnderAiControl || !manager || (chat.needsAttention && manager.id !== me.id)
  async function change(take: boolean) {
    if (isChanging) return
    setChanging(true)
    await (take ? mutate(takeOver, { id, managerId: me.id }) : mutate(giveBack, { id }))
    setChanging(false)
  }
  useAction("control", () => void change(isFree))
  const button = (take: boolean) => (
    <button
      type="button"
      className={take === isFree ? "primary" : undefined}
      aria-disabled={isChanging}
      aria-describedby={meaning}
      onClick={() => void change(take)}
    >
      {take ? t("Take over") : t("Give back")}
    </button>
  )
  return (
    <>
      <span className="control">{answering(chat, me.id)}</span>
      {isFree && button(true)}
      {!isUnderAiControl && button(false)}
      <small id={meaning} className="meaning">
        {isUnderAiControl
          ? t("Take over: the assistant stops answering here, and you become the manager.")
          : isFree
            ? t("Take over: you become the manager. Give back: the assistant answers the customer’s next message.")
            : t("Give back: the assistant answers the customer’s next message.")}
      </small>
    </>
  )
}

/** Who answers in a chat. */
function answering({ isUnderAiControl, assistant, manager }: Chat, userId: string): string {
  if (isUnderAiControl) return t("{name} answers", { name: assistant?.name ?? t("Assistant") })
  if (!manager) return t("Nobody has taken this chat")
  return manager.id === userId ? t("You answer") : t("{name} answers", { name: manager.name })
}

/** Marks a chat as read while somebody looks at it, until it is marked as unread by hand. */
function useReadState({ id, unreadCount, lastMessage }: Chat) {
  const mutate = useMutate()
  const isConnected = useConnected()
  const { go } = useAddress()
  const isUnreadByHand = useRef(false)
  const lastId = lastMessage?.id
  const isUnread = unreadCount > 0
  const tried = useRef("")
  useEffect(() => {
    function read() {
      // Once for each message and connection: a refusal makes the chat unread again, and must not be answered by the next request.
      const attempt = `${lastId} ${isConnected}`
      if (!isUnread || isUnreadByHand.current || tried.current === attempt || document.visibilityState !== "visible") return
      tried.current = attempt
      void mutate(markChatRead, { id })
    }
    read()
    document.addEventListener("visibilitychange", read)
    return () => document.removeEventListener("visibilitychange", read)
  }, [id, isUnread, lastId, isConnected, mutate])
  function markUnread() {
    isUnreadByHand.current = true
    // The chat is left at once: it would be read again by the next look at it, and the person may be elsewhere when the server answers.
    go("/chats")
    void mutate(markChatUnread, { id })
  }
  useAction("unread", markUnread)
  return { markUnread }
}

/** Tells the user that another person is assigned to the chat, and who answers from now on, unless the user has taken it. */
function useChangesOfOthers({ isUnderAiControl, manager }: Chat) {
  const { me } = usePlace()
  const notice = useNotice()
  const before = useRef({ isUnderAiControl, managerId: manager?.id })
  useEffect(() => {
    const { managerId, ...control } = before.current
    before.current = { isUnderAiControl, managerId: manager?.id }
    if (manager && manager.id !== managerId && manager.id !== me.id)
      notice(t("{name} is now the manager of this chat.", { name: manager.name }))
    else if (control.isUnderAiControl && !isUnderAiControl && manager?.id !== me.id)
      notice(t("The assistant no longer answers in this chat."))
    else if (!control.isUnderAiControl && isUnderAiControl) notice(t("The assistant answers in this chat again."))
  }, [isUnderAiControl, manager, me, notice])
}
