import { type FormEvent, type ReactNode, useEffect, useRef } from "react"
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useQuery } from "urql"
import { inboxLimits } from "./limits.js"
import { Failure } from "./notices.js"
import { wordOf } from "./texts.js"
import { t } from "./words.js"

/** The texts of a form's fields by name; an event of the form is taken over. */
export function textsOf(event: FormEvent<HTMLFormElement>): Record<string, string> {
  event.preventDefault()
  return Object.fromEntries([...new FormData(event.currentTarget)].filter(([, value]) => typeof value === "string")) as Record<
    string,
    string
  >
}

/** A field with its label. */
export function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label className="field">
      {label}
      {children}
    </label>
  )
}

/** What was read, or, while the server does not answer, what was read before with the same variables: nothing that is shown is taken away. */
export function useLastRead<Data>(read: Data | undefined, error: CombinedError | undefined, variables: unknown): Data | undefined {
  const key = JSON.stringify(variables)
  const last = useRef<{ key: string; data: Data } | null>(null)
  if (read) last.current = { key, data: read }
  return read ?? (error?.networkError && last.current?.key === key ? last.current.data : undefined)
}

/** Calls `act` when the person comes back to the page, as from a terminal in which something was changed. */
function useOnReturn(act: () => void) {
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    const returned = () => latest.current()
    addEventListener("focus", returned)
    return () => removeEventListener("focus", returned)
  }, [])
}

/** Reads data that other people may change, and again after a change. Returns it, what to show until then, and how to read it again. */
export function useRead<Data, Variables extends AnyVariables>(query: TypedDocumentNode<Data, Variables>, variables: Variables) {
  const [{ data: answer, error }, read] = useQuery({ query, variables, requestPolicy: "cache-and-network" } as Parameters<
    typeof useQuery<Data, Variables>
  >[0])
  const data = useLastRead(answer, error, variables)
  const again = () => read({ requestPolicy: "network-only" })
  useOnReturn(again)
  const instead = data ? null : error ? <Failure error={error} again={again} /> : <p className="hint">{t("Reading …")}</p>
  return { data, instead, again, isReading: !data && !error }
}

/** Reads again at an interval while something is being done whose end is no event. */
export function useReadWhile(isPending: boolean, again: () => void) {
  useEffect(() => {
    if (!isPending) return
    const timer = setInterval(again, inboxLimits.pendingPollMs)
    return () => clearInterval(timer)
  })
}

/** A table with the titles of its columns; its rows are `tr` elements. On a narrow screen each cell has its title before it. */
export function Table({ columns, isBusy, children }: { columns: string[]; isBusy?: boolean; children: ReactNode }) {
  const body = useRef<HTMLTableSectionElement>(null)
  useEffect(() => {
    for (const { cells } of body.current!.rows)
      for (const [index, title] of columns.entries()) cells[index]?.setAttribute("data-title", title)
  })
  return (
    <table aria-busy={isBusy}>
      <thead>
        <tr>
          {columns.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>{children}</tbody>
    </table>
  )
}

/** The choices of a `select` among words of the schema. */
export const WordOptions = ({ words }: { words: readonly string[] }) =>
  words.map((word) => (
    <option key={word} value={word}>
      {wordOf(word)}
    </option>
  ))
