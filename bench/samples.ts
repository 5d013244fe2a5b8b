import type { BenchDatabase } from "./database.js"
import type { Workload } from "./options.js"
import type { RequestParameters } from "./requests.js"

/** The rows and terms that the requests of a run use: drawn once for a database, the same for every contestant. */
export interface Samples {
  chats: string[]
  /** Chats that hold more than a page of messages. */
  longChats: string[]
  filters: Pick<RequestParameters, "messenger" | "tagIds">[]
  terms: string[]
}

const drawn = 8_000
const messengers = ["telegram-bot", "instagram", "whatsapp", "widget", "viber-echat", "gmail"]

export async function drawSamples({ client, companyId }: BenchDatabase): Promise<Samples> {
  const list = async (sql: string): Promise<string[]> =>
    (await client.query({ text: sql, values: [companyId], rowMode: "array" })).rows.flat()
  const [chats] = await list("select count(*)::int from chat where company_id = $1")
  // Phone numbers end in the chat's number in its company: so many digits match some twenty chats, of ten times as many chats, too.
  const digits = Math.ceil(Math.log10(Number(chats))) - 1
  const tags = await list("select id from chat_tag where company_id = $1 order by lower(name)")
  const rare = await list(`select right(phone_number, ${digits}) from chat where company_id = $1 order by random() limit 100`)
  return {
    chats: await list(`select id from chat where company_id = $1 order by random() limit ${drawn}`),
    longChats: await list(`select id from chat where company_id = $1 and last_sequence > 100 order by random() limit ${drawn}`),
    filters: Array.from({ length: 240 }, (_, index) => ({
      messenger: messengers[index % messengers.length]!,
      tagIds: Array.from({ length: 8 }, (_tag, place) => tags[(index * 7 + place) % tags.length]!),
    })),
    // Of every three terms one matches some twenty chats, one a hundredth or a fiftieth of them, and one all of them: the same share of ten times as
    // many chats begins with the same digits.
    terms: rare.flatMap((few, index) => [few, `mer ${10 + ((index * 7) % 40)}`, "northwind"]),
  }
}

/** The sample of the request with this number. */
export function sampleOf({ chats, longChats, filters, terms }: Samples, workload: Workload, number: number) {
  const ids = workload === "W2" ? longChats : chats
  return { chatId: ids[number % ids.length]!, ...filters[number % filters.length]!, term: terms[number % terms.length]! }
}
