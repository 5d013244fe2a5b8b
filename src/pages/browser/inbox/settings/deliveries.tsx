import { useState } from "react"
import { useRead, WordOptions } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { type Delivery, deliveriesQuery, redeliver } from "./operations.js"

const states = ["PENDING", "SUCCEEDED", "FAILED", "CANCELLED"] as const

/** The latest deliveries of an endpoint, with every attempt; each can be sent again. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("Deliveries")}</summary>
      {isOpen && <List webhookId={webhookId} />}
    </details>
  )
}

function List({ webhookId }: { webhookId: string }) {
  const [status, setStatus] = useState<Delivery["status"] | "">("")
  const mutate = useMutate()
  const { data, instead, again } = useRead(deliveriesQuery, { webhookId, ...(status && { status }) })
  async function sendAgain(deliveryId: string) {
    if (await mutate(redeliver, { webhookId, deliveryId })) again()
  }
  return (
    <>
      <div className="line">
        <select aria-label={t("State")} value={status} onChange={({ target }) => setStatus(target.value as typeof status)}>
          <option value="">{t("All states")}</option>
          <WordOptions words={states} />
        </select>
        <button type="button" onClick={again}>
          {t("Read again")}
        </button>
      </div>
      {instead}
      {data?.eventDeliveries.nodes.length === 0 && <p className="hint">{t("No delivery.")}</p>}
      <ul className="rows" aria-label={t("Deliveries")}>
        {data?.eventDeliveries.nodes.map((delivery) => (
          <li key={delivery.id}>
            <details>
              <summary>
                {exactTime(delivery.createdAt)}: {wordOf(delivery.type)},{" "}
                <span className={delivery.status === "FAILED" ? "refused" : undefined}>{wordOf(delivery.status)}</span>
                {delivery.nextAttemptAt && `, ${t("again at {time}", { time: exactTime(delivery.nextAttemptAt) })}`}
              </summary>
              <pre dir="ltr">{delivery.attempts.map(attemptText).join("\n\n")}</pre>
            </details>
            <button type="button" onClick={() => void sendAgain(delivery.id)}>
              {t("Send again")}
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

const attemptText = ({ attemptedAt, responseStatus, responseBody, latencyMs, error }: Delivery["attempts"][number]) =>
  [`${exactTime(attemptedAt)}, ${latencyMs} ms: ${responseStatus ?? t("no response")}`, error, responseBody].filter(Boolean).join("\n")
