import { z } from "zod"
import type { Account } from "../channel.js"
import { portLimits } from "../limits.js"
import type { GmailApi } from "./gmail-api.js"

/** Where a poll begins. */
interface Position {
  /** Gmail's number of the last change that was read. */
  historyId: string
  /** When it was read, in seconds since the epoch; null when it never was. */
  since: number | null
}

/** What a poll leaves for the next one. */
export const pollState = z
  .object({ historyId: z.string(), since: z.number().nullable(), waiting: z.array(z.string()) })
  .nullable()
  .catch(null)

const historyFields = z.object({
  history: z
    .array(
      z.object({
        messagesAdded: z.array(z.object({ message: z.object({ id: z.string(), labelIds: z.array(z.string()).catch([]) }) })).catch([]),
      }),
    )
    .catch([]),
  historyId: z.coerce.string(),
  nextPageToken: z.string().optional(),
})
const listFields = z.object({ messages: z.array(z.object({ id: z.string() })).catch([]), nextPageToken: z.string().optional() })

/** Mails that are of no interest, whatever they are later. */
const isPassedOver = (labels: string[]) => ["DRAFT", "SPAM", "TRASH"].some((label) => labels.includes(label))

/** The mails that came since a position, oldest first, and the next position. */
export async function idsOfNewMails(api: GmailApi, account: Account, position: Position, signal: AbortSignal) {
  const since = Math.floor(Date.now() / 1000)
  const { historyId } = position
  const read = await idsSince(api, account, historyId, signal)
  if (read) return { ...read, since }
  // Gmail has forgotten the position. What comes while the mails are listed is found again, and recognized.
  const profile = await api.profile(account, signal)
  const after = (position.since ?? since) - portLimits.gmailOverlapSeconds
  return { historyId: profile.historyId, since, ids: await idsAfter(api, account, after, signal) }
}

/** By the history of the mailbox; null when it does not reach back that far. */
async function idsSince(api: GmailApi, account: Account, startHistoryId: string, signal: AbortSignal) {
  const ids = new Set<string>()
  let pageToken: string | undefined
  for (;;) {
    const query = new URLSearchParams({ startHistoryId, historyTypes: "messageAdded", maxResults: "500", ...(pageToken && { pageToken }) })
    const page = await api.read(historyFields, `history?${query}`, account, signal)
    if (!page) return null
    for (const { message } of page.history.flatMap(({ messagesAdded }) => messagesAdded))
      if (!isPassedOver(message.labelIds)) ids.add(message.id)
    if (!page.nextPageToken) return { historyId: page.historyId, ids: [...ids] }
    pageToken = page.nextPageToken
  }
}

/** By a search, which lists the newest first. */
async function idsAfter(api: GmailApi, account: Account, after: number, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = []
  let pageToken: string | undefined
  do {
    const query = new URLSearchParams({ q: `after:${after}`, maxResults: "500", ...(pageToken && { pageToken }) })
    const page = await api.read(listFields, `messages?${query}`, account, signal)
    ids.push(...(page?.messages ?? []).map(({ id }) => id))
    pageToken = page?.nextPageToken
  } while (pageToken)
  return ids.toReversed()
}
