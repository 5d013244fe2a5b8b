import { useQuery } from "urql"
import { here } from "../kit/here.js"
import { type Chat, callsQuery } from "../kit/operations.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"

/** The calls with the customer of a chat, newest first; a number that is none has no calls. */
export function Calls({ chat: { companyId, phoneNumber } }: { chat: Chat }) {
  const phone = phoneNumber ?? ""
  const [{ data }] = useQuery({ query: callsQuery, variables: { companyId, phone }, pause: !phone, requestPolicy: "cache-and-network" })
  if (!phone || !data?.calls.nodes.length) return null
  return (
    <>
      <h2>{t("Calls")}</h2>
      <ul className="comments" aria-label={t("Calls")}>
        {data.calls.nodes.map(({ id, callDate, status, duration, endedReason, transcript, recordingUrl }) => (
          <li key={id}>
            <p className="byline">
              <time dateTime={callDate}>{exactTime(callDate)}</time> {wordOf(status)}
              {duration !== null && `, ${t("{seconds} s", { seconds: duration })}`}
              {endedReason && `, ${wordOf(endedReason)}`}
            </p>
            {/* biome-ignore lint/a11y/useMediaCaption: the transcript is below. */}
            {recordingUrl && <audio controls src={here(recordingUrl)} aria-label={t("Recording")} preload="none" />}
            {transcript && (
              <details>
                <summary>{t("Transcript")}</summary>
                <p className="text" dir="auto">
                  {transcript}
                </p>
              </details>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
