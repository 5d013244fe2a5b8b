import { Link } from "wouter"
import { KnowledgeForm } from "../assistants/knowledge-form.js"
import { useAddress } from "../kit/company.js"
import { inboxLimits } from "../kit/limits.js"
import { titleOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import type { Question } from "./operations.js"
import { timeIn } from "./texts.js"

/** What was done with a question: its answer was added, it was closed without one, or it was put back. */
export type Done = "added" | "closed" | "open"

interface Props {
  question: Question
  /** A name of the IANA database. */
  zone: string
  done: Done | undefined
  close(what: "added" | "closed"): void
  reopen(): void
}

/** A question with its chats; an open one has the form for its answer, a closed one the way back. */
export function QuestionRow({ question, zone, done, close, reopen }: Props) {
  const { companyId, count, lastAskedAt, asked, assistant } = question
  const isClosed = done ? done !== "open" : question.closedAt !== null
  const name = question.question
  const others = [...new Set(asked.map((each) => each.question))].filter((each) => each !== name)
  return (
    <li>
      <div className="item">
        <h2 dir="auto">{name}</h2>
        <p className="hint">
          {t("Asked: {count}, last {time}", { count, time: timeIn(zone, lastAskedAt) })} · <bdi>{assistant.name}</bdi>
        </p>
        {others.length > 0 && (
          <ul className="said" aria-label={t("Also asked as")}>
            {others.map((each) => (
              <li key={each} dir="auto">
                {each}
              </li>
            ))}
          </ul>
        )}
        <Chats question={question} />
        <p role="status">{isClosed && <ClosedLine question={question} zone={zone} done={done} />}</p>
        {!isClosed && (
          <KnowledgeForm
            assistant={{ id: assistant.id, companyId }}
            question={name.slice(0, inboxLimits.knowledgeName)}
            added={() => close("added")}
          />
        )}
      </div>
      {isClosed ? (
        <button type="button" aria-label={t("Put back on the list: {name}", { name })} onClick={reopen}>
          {t("Put back on the list")}
        </button>
      ) : (
        <button type="button" aria-label={t("Needs no answer: {name}", { name })} onClick={() => close("closed")}>
          {t("Needs no answer")}
        </button>
      )}
    </li>
  )
}

/** Says that a question is off the list, and where its answer can be tried. */
function ClosedLine({ question: { closedAt, assistant }, zone, done }: Pick<Props, "question" | "zone" | "done">) {
  const { to } = useAddress()
  return (
    <>
      {done === "added"
        ? t("The answer is added; the question is off the list.")
        : done || closedAt === null
          ? t("The question is off the list.")
          : t("Off the list since {time}.", { time: timeIn(zone, closedAt) })}{" "}
      <Link href={to(`/assistants/${assistant.id}`)}>{t("Ask in the playground")}</Link>
    </>
  )
}

function Chats({ question: { asked } }: Pick<Props, "question">) {
  const { to } = useAddress()
  const chats = [...new Map(asked.flatMap(({ chat }) => (chat ? [[chat.id, chat] as const] : []))).values()]
  if (chats.length === 0) return null
  return (
    <p className="line buttons">
      <span className="hint">{t("Chats")}</span>
      {chats.map((chat) => (
        <Link key={chat.id} href={to(`/chats/${chat.id}`)}>
          <bdi>{titleOf(chat)}</bdi>
        </Link>
      ))}
    </p>
  )
}
