import { type RefObject, useCallback, useEffect, useMemo, useRef } from "react"
import { useClient } from "urql"
import { useMutate } from "../kit/notices.js"
import { type Assistant, copyAssistant, deleteAssistant, updateAssistant } from "./operations.js"
import { isStored, settingsIn } from "./prompt.js"

/** The assistant that a test chat is to have. */
export interface Trial {
  /** The stored assistant, or a draft of it with what is typed and not saved; null when the server refused that. */
  assistantId(): Promise<string | null>
  /** Forgets the draft: the next one is made with the knowledge and tools of that time. */
  forget(): void
}

/** Makes a draft of an assistant when the form says something else than is stored, and deletes it when the page is left. */
export function useTrial(assistant: Assistant | null, form: RefObject<HTMLFormElement>): Trial {
  const client = useClient()
  const mutate = useMutate()
  const draft = useRef<string | null>(null)
  /** Counts how often the draft was forgotten: one that was being copied at that moment is deleted too. */
  const forgotten = useRef(0)
  const remove = useCallback(
    (id: string) =>
      // Also when the tab is being closed.
      void client.mutation(deleteAssistant, { id }, { fetchOptions: { keepalive: true } }).toPromise(),
    [client],
  )
  const forget = useCallback(() => {
    forgotten.current += 1
    if (draft.current) remove(draft.current)
    draft.current = null
  }, [remove])
  useEffect(() => {
    addEventListener("pagehide", forget)
    return () => {
      removeEventListener("pagehide", forget)
      forget()
    }
  }, [forget])
  return useMemo(() => {
    async function copied(id: string, name: string) {
      const before = forgotten.current
      const copy = await mutate(copyAssistant, { id, input: { name: name || null, vaRegistration: null } })
      const copyId = copy?.copyAssistant.id ?? null
      if (copyId && before !== forgotten.current) remove(copyId)
      else draft.current = copyId
    }
    async function assistantId() {
      const typed = settingsIn(form.current!)
      const { id } = assistant!
      if (isStored(assistant!, typed)) return id
      if (!draft.current) await copied(id, typed.name)
      if (!draft.current) return null
      const updated = await mutate(updateAssistant, { id: draft.current, input: { ...typed, isDraft: true, draftOfId: id } })
      return updated && draft.current
    }
    return { assistantId, forget }
  }, [assistant, form, mutate, forget, remove])
}
