import type { Workload } from "./options.js"
import { type Contestant, type Interface, interfaceOf } from "./requests.js"
import { selections } from "./statements.js"

// biome-ignore lint/suspicious/noExplicitAny: an answer, in the shape of each contestant.
export type Answer = any

/** A page in the form that all contestants share, and the cursor of the next one. */
export interface Page {
  rows: Answer[]
  totalCount: number | null
  next: string | null
}

const oursOverGraphql = ({ data }: Answer) => data.chats ?? data.messages

const listOf: Record<Interface, (answer: Answer) => { nodes: Answer[]; totalCount?: number; next?: string | null }> = {
  ours: (answer) => withNext(oursOverGraphql(answer)),
  "ours, REST's fields": (answer) => withNext(oursOverGraphql(answer)),
  "ours, REST": ({ data, totalCount, nextCursor }) => ({ nodes: data, totalCount, next: nextCursor }),
  "LIMIT-rows": (answer) => answer,
  LIMIT: (answer) => answer,
  PostGraphile: ({ data }) => {
    const { nodes, totalCount } = Object.values(data)[0] as Answer
    return { nodes: nodes.map(renamed), totalCount }
  },
}

const withNext = ({ nodes, totalCount, pageInfo }: Answer) => ({
  nodes,
  totalCount,
  next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
})

/** A row of PostGraphile with our field names: it names fields after tables and keys. */
function renamed(row: Answer): Answer {
  if (!row) return row
  const { rowId, assistantByCompanyIdAndAssistantId, chatFolderByCompanyIdAndFolderId, replyTo, lastMessage, ...others } = row
  return {
    ...others,
    id: rowId,
    lastMessage: renamed(lastMessage),
    replyTo: renamed(replyTo),
    assistant: renamed(assistantByCompanyIdAndAssistantId),
    folder: renamed(chatFolderByCompanyIdAndFolderId),
    tags: row.chatTaggingsByCompanyIdAndChatId?.nodes.map(({ chatTagByCompanyIdAndTagId }: Answer) => renamed(chatTagByCompanyIdAndTagId)),
    messageMedia: row.messageMediasByCompanyIdAndMessageId?.nodes.map(({ mediaByCompanyIdAndMediaId }: Answer) => ({
      media: renamed(mediaByCompanyIdAndMediaId),
    })),
  }
}

/** A contestant's page, reduced to the fields that all contestants return, in one spelling. */
export function pageOf(contestant: Contestant, workload: Workload, answer: Answer): Page {
  const { nodes, totalCount, next } = listOf[interfaceOf(contestant)](answer)
  const rows = nodes.map(workload === "W2" ? messageOf : chatOf)
  return { rows: rows.map((row: Answer) => inOneSpelling(row)), totalCount: totalCount ?? null, next: next ?? null }
}

/** A page of our server with all its fields, in one spelling. */
export const wholePageOf = (contestant: Contestant, answer: Answer): Answer[] =>
  listOf[interfaceOf(contestant)](answer).nodes.map((row) => inOneSpelling(row))

const pick = (row: Answer, names: string[]) => row && Object.fromEntries(names.map((name) => [name, row[name]]))

const chatOf = (row: Answer) => ({
  ...pick(row, selections.chat),
  lastMessage: pick(row.lastMessage, selections.message),
  assistant: pick(row.assistant, selections.assistant),
  folder: pick(row.folder, selections.folder),
  tags: row.tags.map((tag: Answer) => pick(tag, selections.tag)).sort((a: Answer, b: Answer) => (a.name < b.name ? -1 : 1)),
})

const messageOf = (row: Answer) => ({
  ...pick(row, selections.message),
  replyTo: pick(row.replyTo, selections.message),
  messageMedia: row.messageMedia.map(({ media }: Answer) => ({ media: pick(media, selections.media) })),
})

const words = [
  "messenger",
  "role",
  "type",
  "status",
  "chatType",
  "aiDisableReason",
  "language",
  "vaRegistration",
  "voiceAgentStatus",
  "answer",
  "customer",
  "onBlock",
]

/** Times in milliseconds and UTC, enum values without case and separators, addresses without their signature, and no nulls. */
function inOneSpelling(value: Answer, name = ""): Answer {
  if (Array.isArray(value)) return value.map((each) => inOneSpelling(each))
  if (value && typeof value === "object") {
    const fields = Object.keys(value).sort()
    return Object.fromEntries(
      fields
        .filter((field) => value[field] !== null && value[field] !== undefined)
        .map((field) => [field, inOneSpelling(value[field], field)]),
    )
  }
  if (typeof value !== "string") return value
  if (name.endsWith("At")) return new Date(value).toISOString()
  if (name === "url") return value.replace(/\?.*/, "")
  return words.includes(name) ? value.toLowerCase().replace(/[^a-z]/g, "") : value
}
