import type { ResultOf } from "gql.tada"
import { useMemo, useState } from "react"
import { Link } from "wouter"
import { KnowledgeForm } from "../assistants/knowledge-form.js"
import { useAddress, usePlace } from "../kit/company.js"
import { inboxLimits } from "../kit/limits.js"
import { usePages } from "../kit/live.js"
import { Failure, useMutate } from "../kit/notices.js"
import { titleOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { closeQuestion, type Question, questionsQuery } from "./operations.js"
import { usePeriod, variablesOf } from "./place.js"
import { timeIn } from "./texts.js"

/** What customers asked and the knowledge does not say, what was asked most often first; each can become an item of knowledge. */
export function Questions() {
  const { companyId } = usePlace()
  const { period } = usePeriod()
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const mutate = useMutate()
  const key = JSON.stringify({ companyId, ...variablesOf(period) })
  const source = useMemo(
    () => ({
      document: questionsQuery,
      variables: { ...(JSON.parse(key) as { companyId: string; from: string; to: string }), first: inboxLimits.pageSize },
      connection: ({ unansweredQuestions }: ResultOf<typeof questionsQuery>) => unansweredQuestions,
    }),
    [key],
  )
  const { nodes, isLoading, hasMore, error, more } = usePages(source)
  const open = nodes.filter(({ id }) => !closed.has(id))
  async function close(id: string) {
    if (await mutate(closeQuestion, { id })) setClosed((before) => new Set([...before, id]))
  }
  return (
    <>
      <p className="hint">
        {t("Questions to which the search of the knowledge found nothing. Add an answer, and ask in the playground of the assistant.")}
      </p>
      <Failure error={error} again={more} />
      <ul className="rows" aria-label={t("Unanswered questions")}>
        {open.map((question) => (
          <Row key={question.id} question={question} zone={period.zone} close={() => void close(question.id)} />
        ))}
      </ul>
      {isLoading && <p className="hint">{t("Reading …")}</p>}
      {!isLoading && !error && open.length === 0 && <p className="nothing">{t("No open question of this period.")}</p>}
      {hasMore && (
        <button type="button" onClick={more}>
          {t("More questions")}
        </button>
      )}
    </>
  )
}

function Row({ question, zone, close }: { question: Question; zone: string; close(): void }) {
  const { companyId, count, lastAskedAt, asked, assistant } = question
  const name = question.question
  const texts = [...new Set(asked.map((each) => each.question))]
  const chats = [...new Map(asked.flatMap(({ chat }) => (chat ? [[chat.id, chat] as const] : []))).values()]
  return (
    <li>
      <div className="item">
        <h2 dir="auto">{name}</h2>
        <p className="hint">
          {t("Asked: {count}, last {time}", { count, time: timeIn(zone, lastAskedAt) })} · <bdi>{assistant.name}</bdi>
        </p>
        {texts.length > 1 && (
          <ul className="said" aria-label={t("Also asked as")}>
            {texts
              .filter((each) => each !== name)
              .map((each) => (
                <li key={each} dir="auto">
                  {each}
                </li>
              ))}
          </ul>
        )}
        <Chats chats={chats} />
        <KnowledgeForm assistant={{ id: assistant.id, companyId }} question={name.slice(0, inboxLimits.knowledgeName)} added={close} />
      </div>
      <button type="button" aria-label={t("Needs no answer: {name}", { name })} onClick={close}>
        {t("Needs no answer")}
      </button>
    </li>
  )
}

function Chats({ chats }: { chats: NonNullable<Question["asked"][number]["chat"]>[] }) {
  const { to } = useAddress()
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
