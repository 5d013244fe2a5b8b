import { useState } from "react"
import { useQuery } from "urql"
import { assistantsQuery } from "../assistants/operations.js"
import { usePlace } from "../kit/company.js"
import { Field } from "../kit/forms.js"
import { wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { Copyable } from "./secret.js"

/** Channels with an adapter of their own: what identifies the account, and its credentials. Others go over the bridge. */
const native: Readonly<Record<string, { externalId: string; credentials: object }>> = {
  TELEGRAM_BOT: { externalId: "my_bot", credentials: { botToken: "123456:ABC-DEF" } },
  WHATSAPP_BUSINESS: {
    externalId: "PHONE_NUMBER_ID",
    credentials: { accessToken: "…", phoneNumberId: "…", appSecret: "…", verifyToken: "…" },
  },
  MESSENGER: { externalId: "PAGE_ID", credentials: { pageAccessToken: "…", appSecret: "…", verifyToken: "…" } },
  INSTAGRAM: { externalId: "ACCOUNT_ID", credentials: { pageAccessToken: "…", appSecret: "…", verifyToken: "…" } },
  RESEND: {
    externalId: "support@example.com",
    credentials: { apiKey: "re_…", from: "Shop <support@example.com>", webhookSecret: "whsec_…" },
  },
  GMAIL: { externalId: "support@example.com", credentials: { clientId: "…", clientSecret: "…", refreshToken: "…" } },
  WIDGET: { externalId: "my-site", credentials: {} },
}
const bridge = { externalId: "my-connector", credentials: { sendUrl: "https://connector.example.com/send", secret: "…" } }
const channels = [...Object.keys(native), "CUSTOM_MESSENGER"]

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The command that connects a channel, to paste into a terminal on the server: credentials stay out of browsers. */
export function Connect() {
  const { companyId } = usePlace()
  const [channel, setChannel] = useState("TELEGRAM_BOT")
  const [assistantId, setAssistantId] = useState("")
  const [{ data }] = useQuery({ query: assistantsQuery, variables: { companyId } })
  const assistants = data?.assistants.nodes ?? []
  const { externalId, credentials } = native[channel] ?? bridge
  const name = wordOf(channel)
  const command = [
    `npm run --silent admin -- channel:connect --company ${companyId} --messenger ${channel.toLowerCase().replaceAll("_", "-")}`,
    `--external-id ${quoted(externalId)} --name ${quoted(name)}`,
    `--assistant ${assistantId || assistants[0]?.id || "ID"}`,
    ...(Object.keys(credentials).length > 0 ? [`--credentials ${quoted(JSON.stringify(credentials))}`] : []),
  ].join(" \\\n  ")
  const stand = channel === "CUSTOM_MESSENGER" ? "bridge" : channel.toLowerCase().replaceAll("_", "-")
  const simulation =
    channel !== "WIDGET" && `npm run simulate -- ${stand} --company ${companyId} --assistant ${assistantId || assistants[0]?.id || "ID"}`
  return (
    <div className="fields">
      <h3>{t("Connect a channel")}</h3>
      <div className="line">
        <Field label={t("Channel")}>
          <select value={channel} onChange={({ target }) => setChannel(target.value)}>
            {channels.map((value) => (
              <option key={value} value={value}>
                {wordOf(value)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t("Assistant")}>
          <select value={assistantId || assistants[0]?.id} onChange={({ target }) => setAssistantId(target.value)}>
            {assistants.map((assistant) => (
              <option key={assistant.id} value={assistant.id}>
                {assistant.name}
              </option>
            ))}
          </select>
        </Field>
      </div>
      <p>{t("Paste this command on the server, with your own account and credentials: they stay out of browsers.")}</p>
      <Copyable text={command} />
      {simulation && (
        <>
          <p>
            {t(
              "No account yet? This command connects a stand-in, in which you write as a customer. It says how to start the server for it.",
            )}
          </p>
          <Copyable text={simulation} />
        </>
      )}
    </div>
  )
}
