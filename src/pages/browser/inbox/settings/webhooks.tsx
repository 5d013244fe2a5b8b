import { type FormEvent, useState } from "react"
import { usePlace } from "../kit/company.js"
import { Confirmed } from "../kit/confirmed.js"
import { Field, textsOf, useRead } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { Deliveries } from "./deliveries.js"
import { createWebhook, deleteWebhook, rotateSecret, testWebhook, updateWebhook, type Webhook, webhooksQuery } from "./operations.js"
import { Secret } from "./secret.js"

const types = [
  "MESSAGE_CREATED",
  "MESSAGE_UPDATED",
  "CHAT_CREATED",
  "CHAT_UPDATED",
  "CHAT_DELETED",
  "CHAT_MODE_CHANGED",
  "CHANNEL_UPDATED",
  "STRETCH_ENDED",
  "TOOL_CALL_REQUESTED",
  "CALL_STARTED",
  "CALL_ENDED",
  "CALL_TRANSCRIBED",
  "EVENT_WEBHOOK_DISABLED",
] as const satisfies Webhook["types"]

/** The endpoints that get the company's events. */
export function Webhooks() {
  const { companyId } = usePlace()
  const mutate = useMutate()
  const [secret, setSecret] = useState("")
  const { data, instead, again } = useRead(webhooksQuery, { companyId })
  async function create(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    const chosen = new FormData(form).getAll("types") as Webhook["types"]
    const { url, query, ordered } = textsOf(event)
    const input = { companyId, url: url!, types: chosen, ordered: ordered === "on", ...(query && { query }) }
    const made = await mutate(createWebhook, { input })
    if (!made) return
    setSecret(made.createEventWebhook.secret ?? "")
    form.reset()
    again()
  }
  return (
    <>
      {instead}
      {secret && <Secret key={secret} label={t("The secret that signs the requests.")} value={secret} />}
      <ul aria-label={t("Endpoints")}>
        {data?.eventWebhooks.map((webhook) => (
          <li key={webhook.id} className="card">
            <Endpoint webhook={webhook} changed={again} showSecret={setSecret} />
          </li>
        ))}
      </ul>
      <form className="fields narrow" onSubmit={create}>
        <h3>{t("New endpoint")}</h3>
        <Field label={t("Address")}>
          <input name="url" type="url" required />
        </Field>
        <fieldset>
          <legend>{t("Events")}</legend>
          {types.map((type) => (
            <label key={type} className="check">
              <input type="checkbox" name="types" value={type} /> {wordOf(type)}
            </label>
          ))}
        </fieldset>
        <Field label={t("Selection on Event (GraphQL); empty for the documented payload")}>
          <textarea name="query" rows={2} dir="ltr" spellCheck={false} placeholder="{ type message { text } }" />
        </Field>
        <label className="check">
          <input type="checkbox" name="ordered" /> {t("Keep the order of each chat")}
        </label>
        <button type="submit" className="primary">
          {t("Create endpoint")}
        </button>
      </form>
    </>
  )
}

interface EndpointProps {
  webhook: Webhook
  changed(): void
  showSecret(secret: string): void
}

function Endpoint({ webhook: { id, url, types: wanted, disabled, disabledReason, failingSince }, changed, showSecret }: EndpointProps) {
  const mutate = useMutate()
  const notice = useNotice()
  const [tests, setTests] = useState(0)
  async function change(disable: boolean) {
    if (await mutate(updateWebhook, { id, input: { disabled: disable } })) changed()
  }
  async function rotate() {
    const made = await mutate(rotateSecret, { id })
    if (made) showSecret(made.rotateEventWebhookSecret.secret ?? "")
  }
  async function test() {
    const sent = await mutate(testWebhook, { id })
    if (!sent) return
    const attempt = sent.testEventWebhook.attempts.at(-1)
    notice(t("The endpoint answered {status}. {error}", { status: attempt?.responseStatus ?? t("nothing"), error: attempt?.error ?? "" }))
    setTests(tests + 1)
  }
  async function remove() {
    if (await mutate(deleteWebhook, { id })) changed()
  }
  return (
    <>
      <h3>
        <bdi>{url}</bdi>
      </h3>
      <p className="hint">{wanted.map(wordOf).join(", ")}</p>
      {disabled && <p className="refused">{t("Disabled. {reason}", { reason: disabledReason ?? "" })}</p>}
      {failingSince && <p className="refused">{t("Fails since {time}.", { time: exactTime(failingSince) })}</p>}
      <p className="line buttons">
        <button type="button" onClick={() => void test()}>
          {t("Send a test event")}
        </button>
        <button type="button" onClick={() => void change(!disabled)}>
          {disabled ? t("Enable") : t("Disable")}
        </button>
        <button type="button" onClick={() => void rotate()}>
          {t("New secret")}
        </button>
        <Confirmed label={t("Delete")} act={() => void remove()} />
      </p>
      <Deliveries key={tests} webhookId={id} />
    </>
  )
}
