import type { FormEvent } from "react"
import { Field, textsOf } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { type Assistant, updateAssistant } from "./operations.js"

const { voiceSilence, voiceDuration } = inboxLimits

/** How an assistant speaks on the phone; its voice agent is made in the background. */
export function Voice({ assistant: { id, vaRegistration: voice, voiceAgentStatus, voiceAgentError } }: { assistant: Assistant }) {
  const mutate = useMutate()
  const notice = useNotice()
  async function save(event: FormEvent<HTMLFormElement>) {
    const { provider, voiceId, phoneNumber, firstMessage, silence, duration, interruptible } = textsOf(event)
    const vaRegistration = {
      provider: provider!,
      ...(voiceId && { voiceId }),
      ...(phoneNumber && { phoneNumber }),
      ...(firstMessage && { firstMessage }),
      interruptible: interruptible === "on",
      silenceTimeoutSeconds: Number(silence),
      maxDurationSeconds: Number(duration),
    }
    if (await mutate(updateAssistant, { id, input: { vaRegistration } })) notice(t("Saved."))
  }
  async function remove() {
    if (await mutate(updateAssistant, { id, input: { vaRegistration: null } })) notice(t("Saved."))
  }
  return (
    <section aria-label={t("Voice")}>
      <h2>{t("Voice")}</h2>
      <p className="hint">
        {t("Voice agent: {state}", { state: wordOf(voiceAgentStatus) })} <span className="refused">{voiceAgentError}</span>
      </p>
      {/* A form of its own for each stored state, since its fields keep what is typed. */}
      <form className="fields" onSubmit={save} key={JSON.stringify(voice)}>
        <div className="line">
          <Field label={t("Provider")}>
            <input name="provider" list="voice-providers" defaultValue={voice?.provider ?? ""} required />
          </Field>
          <datalist id="voice-providers">
            <option value="simulated" />
            <option value="elevenlabs" />
          </datalist>
          <Field label={t("Voice ID")}>
            <input name="voiceId" defaultValue={voice?.voiceId ?? ""} />
          </Field>
          <Field label={t("Phone")}>
            <input name="phoneNumber" type="tel" defaultValue={voice?.phoneNumber ?? ""} />
          </Field>
        </div>
        <Field label={t("First sentence; empty for the greeting")}>
          <input name="firstMessage" defaultValue={voice?.firstMessage ?? ""} dir="auto" />
        </Field>
        <div className="line">
          <Field label={t("Silence that ends a call, in seconds")}>
            <input
              name="silence"
              type="number"
              min="1"
              max={voiceSilence.max}
              defaultValue={voice?.silenceTimeoutSeconds ?? voiceSilence.usual}
              required
            />
          </Field>
          <Field label={t("Longest call, in seconds")}>
            <input
              name="duration"
              type="number"
              min="1"
              max={voiceDuration.max}
              defaultValue={voice?.maxDurationSeconds ?? voiceDuration.usual}
              required
            />
          </Field>
        </div>
        <label className="check">
          <input type="checkbox" name="interruptible" defaultChecked={voice?.interruptible ?? true} /> {t("The customer may interrupt")}
        </label>
        <p className="line buttons">
          <button type="submit">{t("Save voice")}</button>
          {voice && (
            <button type="button" onClick={() => void remove()}>
              {t("Remove voice")}
            </button>
          )}
        </p>
      </form>
    </section>
  )
}
