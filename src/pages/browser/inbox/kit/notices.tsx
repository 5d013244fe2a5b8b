import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react"
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useClient } from "urql"
import { inboxLimits } from "./limits.js"
import { sentenceOf } from "./texts.js"
import { t } from "./words.js"

const NoticeContext = createContext<(text: string) => void>(() => {})

/** Tells the user a sentence, screen readers too. */
export const useNotice = () => useContext(NoticeContext)

/** Runs a mutation; a refusal is told in the server's words. Returns the data, or null when it was refused. */
export function useMutate() {
  const client = useClient()
  const notice = useNotice()
  return useCallback(
    async <Data, Variables extends AnyVariables>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
    ): Promise<Data | null> => {
      const { data, error } = await client.mutation(document, variables)
      if (error) notice(sentenceOf(error))
      return error ? null : (data ?? null)
    },
    [client, notice],
  )
}

/** An error in the place of what could not be read, with the button that reads it again. */
export function Failure({ error, again }: { error: CombinedError | undefined; again?: () => void }) {
  if (!error) return null
  return (
    <p role="alert" className="refused">
      {sentenceOf(error)}{" "}
      {again && (
        <button type="button" onClick={again}>
          {t("Try again")}
        </button>
      )}
    </p>
  )
}

/** Shows notices below its views. */
export function Notices({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ id: number; text: string }[]>([])
  const add = useCallback((text: string) => setShown((before) => [...before.slice(-2), { id: (before.at(-1)?.id ?? 0) + 1, text }]), [])
  const remove = useCallback((id: number) => setShown((before) => before.filter((notice) => notice.id !== id)), [])
  const notices = useMemo(() => shown.map((notice) => <Notice key={notice.id} {...notice} remove={remove} />), [shown, remove])
  return (
    <NoticeContext.Provider value={add}>
      {children}
      <div role="status" aria-label={t("Notices")} className="notices">
        {notices}
      </div>
    </NoticeContext.Provider>
  )
}

function Notice({ id, text, remove }: { id: number; text: string; remove(id: number): void }) {
  useEffect(() => {
    const timer = setTimeout(() => remove(id), inboxLimits.noticeMs)
    return () => clearTimeout(timer)
  }, [id, remove])
  return (
    <p>
      {text}
      <button type="button" aria-label={t("Dismiss")} onClick={() => remove(id)}>
        ×
      </button>
    </p>
  )
}
