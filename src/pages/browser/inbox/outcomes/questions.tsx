import type { ResultOf } from "gql.tada"
import { useMemo, useState } from "react"
import { useAddress, usePlace } from "../kit/company.js"
import { inboxLimits } from "../kit/limits.js"
import { usePages } from "../kit/live.js"
import { Failure, useMutate } from "../kit/notices.js"
import { type Text, t } from "../kit/words.js"
import { closeQuestion, type Question, questionsQuery, reopenQuestion } from "./operations.js"
import { usePeriod, variablesOf } from "./place.js"
import { type Done, QuestionRow } from "./question-row.js"

type State = "OPEN" | "CLOSED"

const views = [
  { state: "OPEN", title: "On the list", empty: "No open question of this period." },
  { state: "CLOSED", title: "Off the list", empty: "No question of this period was taken off the list." },
] as const satisfies { state: State; title: Text; empty: Text }[]

/** The questions of the period in a state, and how to read them again from the first. */
function useQuestions(state: State) {
  const { companyId } = usePlace()
  const { period } = usePeriod()
  const [reads, setReads] = useState(0)
  const key = JSON.stringify({ companyId, state, ...variablesOf(period), reads })
  const source = useMemo(() => {
    const { reads: _, ...variables } = JSON.parse(key) as { companyId: string; state: State; from: string; to: string; reads: number }
    return {
      document: questionsQuery,
      variables: { ...variables, first: inboxLimits.pageSize },
      connection: ({ unansweredQuestions }: ResultOf<typeof questionsQuery>) => unansweredQuestions,
    }
  }, [key])
  return { ...usePages(source), key, zone: period.zone, again: () => setReads((before) => before + 1) }
}

/** A question with which something was done, and its place in the list then. */
interface DoneQuestion {
  readonly question: Question
  readonly place: number
  readonly what: Done
}

/** The rows of a list; those with which something was done since it was chosen stay in their places, so that it can be undone. */
function useRows(key: string, nodes: readonly Question[]) {
  const mutate = useMutate()
  const [state, setState] = useState<{ key: string; done: readonly DoneQuestion[] }>({ key, done: [] })
  const done = state.key === key ? state.done : []
  const read = new Set(nodes.map(({ id }) => id))
  const rows = [...nodes]
  // The list is also read again by itself, as after the connection was lost.
  for (const { question, place } of done.toSorted((one, other) => one.place - other.place))
    if (!read.has(question.id)) rows.splice(place, 0, question)
  const note = (question: Question, what: Done) => {
    const place = rows.findIndex(({ id }) => id === question.id)
    setState((before) => {
      const others = before.key === key ? before.done.filter((each) => each.question.id !== question.id) : []
      return { key, done: [...others, { question, place, what }] }
    })
  }
  return {
    rows,
    doneWith: ({ id }: Question) => done.find(({ question }) => question.id === id)?.what,
    close: async (question: Question, what: "added" | "closed") => {
      if (await mutate(closeQuestion, { id: question.id })) note(question, what)
    },
    reopen: async (question: Question) => {
      if (await mutate(reopenQuestion, { id: question.id })) note(question, "open")
    },
  }
}

/** What customers asked and the knowledge does not say, what was asked most often first; each can become an item of knowledge. */
export function Questions() {
  const { query, path, go } = useAddress()
  const view = views.find(({ state }) => state === query.get("questions")) ?? views[0]
  const { nodes, isLoading, hasMore, error, more, again, key, zone } = useQuestions(view.state)
  const { rows, doneWith, close, reopen } = useRows(key, nodes)
  return (
    <>
      <p className="hint">
        {t("Questions to which the search of the knowledge found nothing. Add an answer, and ask in the playground of the assistant.")}
      </p>
      <p className="line buttons">
        {views.map(({ state, title }) => (
          <button key={state} type="button" aria-pressed={state === view.state} onClick={() => go(path, { questions: state })}>
            {t(title)}
          </button>
        ))}
        <button type="button" onClick={again}>
          {t("Read again")}
        </button>
      </p>
      <Failure error={error} again={more} />
      <ul className="rows" aria-label={t("Unanswered questions")}>
        {rows.map((question) => (
          <QuestionRow
            key={question.id}
            question={question}
            zone={zone}
            done={doneWith(question)}
            close={(what) => void close(question, what)}
            reopen={() => void reopen(question)}
          />
        ))}
      </ul>
      {isLoading && <p className="hint">{t("Reading …")}</p>}
      {!isLoading && !error && rows.length === 0 && <p className="nothing">{t(view.empty)}</p>}
      {hasMore && (
        <button type="button" onClick={more}>
          {t("More questions")}
        </button>
      )}
    </>
  )
}
