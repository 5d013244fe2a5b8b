import { type RefObject, useCallback, useEffect, useMemo, useRef } from "react"
import { useClient } from "urql"
import { useMutate } from "../kit/notices.js"
import { type Assistant, copyAssistant, deleteAssistant, updateAssistant } from "./operations.js"
import { settingsIn } from "./prompt.js"

/** The assistant that a test chat is to have. */
export interface Trial {
  /** The stored assistant, or a draft of it with what is typed and not saved; null when the server refused that. */
  assistantId(): Promise<string | null>
  /** Forgets the draft: the next one is made with the knowledge and tools of that time. */
  forget(): void
}

const isSaved = (assistant: Assistant, typed: ReturnType<typeof settingsIn>) =>
  Object.entries(typed).every(([name, value]) => (assistant[name as keyof Assistant] ?? "") === (value ?? ""))

/** Makes a draft of an assistant when the form says something else than is stored, and deletes it when the page is left. */
export function useTrial(assistant: Assistant | null, form: RefObject<HTMLFormElement>): Trial {
  const client = useClient()
  const mutate = useMutate()
  const draft = useRef<string | null>(null)
  const forget = useCallback(() => {
    const id = draft.current
    draft.current = null
    if (id) void client.mutation(deleteAssistant, { id }).toPromise()
  }, [client])
  useEffect(() => forget, [forget])
  return useMemo(() => {
    async function assistantId() {
      const typed = settingsIn(form.current!)
      const { id } = assistant!
      if (isSaved(assistant!, typed)) return id
      if (!draft.current) {
        const copied = await mutate(copyAssistant, { id, input: { name: typed.name || null, vaRegistration: null } })
        draft.current = copied?.copyAssistant.id ?? null
      }
      if (!draft.current) return null
      const updated = await mutate(updateAssistant, { id: draft.current, input: { ...typed, isDraft: true, draftOfId: id } })
      return updated && draft.current
    }
    return { assistantId, forget }
  }, [assistant, form, mutate, forget])
}
