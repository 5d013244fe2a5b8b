import type { FormEvent } from "react"
import { Link } from "wouter"
import { useAddress, useChoices } from "../kit/company.js"
import { textsOf } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { useMutate } from "../kit/notices.js"
import {
  addChatComment,
  addChatLabel,
  assignManager,
  type Chat,
  type ChatWithComments,
  removeChatComment,
  removeChatLabel,
  renameChat,
  setChatFolder,
} from "../kit/operations.js"
import { exactTime } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { Calls } from "./calls.js"

type Comment = ChatWithComments["meta"]["comments"][number]

/** What the company keeps of a chat: manager, folder, labels, comments. */
export function Details({ chat }: { chat: ChatWithComments }) {
  const { company, chatFolders } = useChoices()
  const { to } = useAddress()
  const mutate = useMutate()
  const { id } = chat
  const members = company?.members ?? []
  const rename = (event: FormEvent<HTMLFormElement>) => void mutate(renameChat, { id, name: textsOf(event)["text"]!.trim() })
  return (
    <aside className="details" aria-label={t("Details")}>
      <h2>{t("Customer")}</h2>
      <form className="line" onSubmit={rename}>
        <input key={chat.name} name="text" aria-label={t("Name")} placeholder={t("Name")} defaultValue={chat.name ?? ""} dir="auto" />
        <button type="submit">{t("Rename")}</button>
      </form>
      <dl className="facts-of-chat">
        {chat.username && <Fact name={t("User name")} value={chat.username} />}
        {chat.phoneNumber && <Fact name={t("Phone")} value={chat.phoneNumber} />}
        {chat.assistant ? (
          <div>
            <dt>{t("Assistant")}</dt>
            <dd>
              <Link href={to(`/assistants/${chat.assistant.id}`)}>
                <bdi>{chat.assistant.name}</bdi>
              </Link>
            </dd>
          </div>
        ) : (
          <Fact name={t("Assistant")} value={t("None")} />
        )}
        <Fact name={t("Since")} value={exactTime(chat.createdAt)} />
      </dl>
      <label>
        {t("Manager")}
        <select value={chat.managerId ?? ""} onChange={({ target }) => void mutate(assignManager, { id, managerId: target.value || null })}>
          <option value="">{t("Nobody")}</option>
          {members.map(({ userId, name }) => (
            <option key={userId} value={userId}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t("Folder")}
        <select value={chat.folderId ?? ""} onChange={({ target }) => void mutate(setChatFolder, { id, folderId: target.value || null })}>
          <option value="">{t("No folder")}</option>
          {chatFolders.map(({ id: folderId, name }) => (
            <option key={folderId} value={folderId}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Calls chat={chat} />
      <Labels chat={chat} />
      <Comments chatId={id} comments={chat.meta.comments} names={new Map(members.map(({ userId, name }) => [userId, name]))} />
    </aside>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{value}</bdi>
      </dd>
    </div>
  )
}

/** Reads a form's only field, and empties it. */
function take(event: FormEvent<HTMLFormElement>): string {
  event.preventDefault()
  const text = String(new FormData(event.currentTarget).get("text")).trim()
  event.currentTarget.reset()
  return text
}

function Labels({ chat: { id, tags } }: { chat: Chat }) {
  const { chatTags } = useChoices()
  const mutate = useMutate()
  function add(event: FormEvent<HTMLFormElement>) {
    const label = take(event)
    if (label) void mutate(addChatLabel, { id, label })
  }
  return (
    <>
      <h2>{t("Labels")}</h2>
      <ul className="tags">
        {tags.map((tag) => (
          <li key={tag.id} className="tag">
            <bdi>{tag.name}</bdi>
            <button
              type="button"
              aria-label={t("Remove the label {name}", { name: tag.name })}
              onClick={() => void mutate(removeChatLabel, { id, label: tag.name })}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <form className="line" onSubmit={add}>
        <input name="text" aria-label={t("New label")} placeholder={t("New label")} list="labels" maxLength={inboxLimits.labelMax} />
        <datalist id="labels">
          {chatTags.map((tag) => (
            <option key={tag.id} value={tag.name} />
          ))}
        </datalist>
        <button type="submit">{t("Add label")}</button>
      </form>
    </>
  )
}

function Comments({ chatId: id, comments, names }: { chatId: string; comments: Comment[]; names: Map<string, string> }) {
  const mutate = useMutate()
  function add(event: FormEvent<HTMLFormElement>) {
    const text = take(event)
    if (text) void mutate(addChatComment, { id, text })
  }
  return (
    <>
      <h2>{t("Comments")}</h2>
      <p className="hint">{t("Only your team sees these.")}</p>
      <ul className="comments" aria-label={t("Comments")}>
        {comments.map((comment) => (
          <li key={comment.id}>
            <p className="byline">
              <bdi>{(comment.authorId && names.get(comment.authorId)) || t("Integration")}</bdi> <time>{exactTime(comment.createdAt)}</time>
            </p>
            <p dir="auto">{comment.text}</p>
            <button type="button" className="plain" onClick={() => void mutate(removeChatComment, { id, commentId: comment.id })}>
              {t("Remove")}
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={add}>
        <textarea name="text" aria-label={t("New comment")} placeholder={t("New comment")} rows={2} maxLength={inboxLimits.commentMax} />
        <button type="submit">{t("Add comment")}</button>
      </form>
    </>
  )
}
