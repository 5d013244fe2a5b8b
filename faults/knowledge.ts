import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Instance } from "../test/kit/campaign/instance.js"
import { type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { type FakeEmbeddings, startFakeEmbeddings } from "../test/kit/fake-embeddings.js"
import { openSite } from "../test/kit/site.js"
import type { Chance } from "./kit/chance.js"
import { type Book, fill, goodBooks, poisonedBooks, privateBooks } from "./kit/library.js"
import { type Deployment, post } from "./kit/test-bed.js"

export const comesToAnEnd = "every item is indexed or failed, none is pending, in time after the last start"

/** What a knowledge campaign is to do. */
export interface KnowledgeSize {
  /** Items that can be indexed. */
  good: number
  /** Poisoned ones of each of five sorts. */
  poisonedOfEach: number
  kills: number
  /** How long it may take after the last start. */
  patienceMs: number
}

/**
 * Hundreds of items are indexed, some of them poisoned, by a worker that is killed again and again. Pages of the campaign are on this machine,
 * so most of it runs with the private network allowed; what a guarded server has to refuse comes last, under a server with its guard on.
 */
export async function knowledgeCampaign(deployment: Deployment, report: Report, chance: Chance, size: KnowledgeSize) {
  const [site, vendor] = [await openSite(), await startFakeEmbeddings()]
  const folder = mkdtempSync(join(tmpdir(), "knowledge-faults-"))
  try {
    const env = { DATA_DIR: folder, EMBEDDING_BASE_URL: vendor.url, EMBEDDING_MODEL: "letters" }
    // So many that some are left when the last kill strikes.
    const guardedShare = Math.round(size.good / 7)
    const open = [...goodBooks(site, chance, size.good - guardedShare, true), ...poisonedBooks(site, size.poisonedOfEach)]
    const guarded = [...goodBooks(site, chance, guardedShare, false), ...privateBooks(site, size.poisonedOfEach)]
    const lastKills = Math.floor(size.kills / 5)
    const first = await deployment.start("knowledge", { ...env, ALLOW_PRIVATE_NETWORK: "true" })
    const assistant = await post(`${first.url}/api/assistants-new`, deployment.token, { name: "Librarian", prompt: "Answer." })
    const assistantId = assistant.body.id
    const strikes = { deployment, vendor, chance, assistantId }
    const ids = await killedMeanwhile(strikes, first, chance.shuffled(open), size.kills - lastKills)
    await finished(deployment, size.patienceMs)
    await first.kill()
    const second = await deployment.start("guarded", { ...env, ALLOW_PRIVATE_NETWORK: "false" })
    for (const [name, id] of await killedMeanwhile(strikes, second, chance.shuffled(guarded), lastKills)) ids.set(name, id)
    const begin = performance.now()
    const isFinished = await finished(deployment, size.patienceMs)
    report.note(`${ids.size} items, ${size.kills} kills; all finished ${worst([performance.now() - begin])} after the last start`)
    await judge(deployment, report, [...open, ...guarded], ids, isFinished)
    checkEmbeddings(report, vendor, size.kills)
    await checkSearch(report, deployment, second, assistantId, [...open, ...guarded])
  } finally {
    await Promise.all([site.close(), vendor.close()])
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Strikes {
  deployment: Deployment
  vendor: FakeEmbeddings
  chance: Chance
  assistantId: string
}

/** Creates the items while embedding is blocked, unblocks it, and kills the worker several times during the indexing. */
async function killedMeanwhile({ deployment, vendor, chance, assistantId }: Strikes, server: Instance, books: Book[], kills: number) {
  const pauses = Array.from({ length: kills }, () => chance.whole(50, 900))
  const embed = vendor.reply
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  vendor.reply = async (request) => {
    await begun
    await sleep(150)
    return embed(request)
  }
  const ids = await fill(deployment, server, assistantId, books)
  begin()
  for (const pause of pauses) {
    await must(
      "an item is being indexed",
      async () => (await deployment.sql("select 1 from knowledge where index_run is not null limit 1")).length > 0,
    )
    await sleep(pause)
    await server.kill()
    await server.start()
  }
  vendor.reply = embed
  return ids
}

/** Waits until nothing is pending or running; returns whether that happened in time. */
const finished = (deployment: Deployment, patienceMs: number) =>
  until(async () => {
    const open = "select 1 from knowledge where index_status = 'pending' or index_due_at is not null or index_run is not null limit 1"
    return (await deployment.sql(open)).length === 0
  }, patienceMs)

async function judge(deployment: Deployment, report: Report, books: Book[], ids: Map<string, string>, isFinished: boolean) {
  const rows = await deployment.sql(
    `select id, name, index_status as status, index_error as error, chunk_count as chunks,
       (select count(*)::integer from knowledge_chunk c where c.knowledge_id = k.id) as kept,
       (select count(distinct position)::integer from knowledge_chunk c
         where c.knowledge_id = k.id and c.generation = k.index_generation and position < k.chunk_count) as searched
     from knowledge k where id = any($1::uuid[])`,
    [[...ids.values()]],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const faults = { pending: [] as string[], good: [] as string[], poisoned: [] as string[], chunks: [] as string[] }
  for (const { name, fails } of books) {
    const row = byId.get(ids.get(name)!)
    const said = `${name}: ${row?.status} ${row?.error ?? ""}`
    if (row?.status !== "indexed" && row?.status !== "failed") faults.pending.push(said)
    else if (fails && (row.status !== "failed" || !fails.test(row.error ?? ""))) faults.poisoned.push(said)
    else if (!fails && (row.status !== "indexed" || row.error || row.chunks === 0)) faults.good.push(said)
    if (row?.status === "indexed" && (row.searched !== row.chunks || row.kept !== row.chunks))
      faults.chunks.push(`${name}: ${row.chunks} chunks, ${row.searched} searched, ${row.kept} kept`)
  }
  if (!isFinished && faults.pending.length === 0) faults.pending.push("something was still due or running")
  report.note(tally(rows.map((row) => row.status)))
  report.promise(comesToAnEnd, faults.pending)
  report.promise("every item that can be indexed is", faults.good)
  report.promise("every poisoned item failed with its own reason", faults.poisoned)
  report.promise("what is indexed has each of its chunks once, and nothing is left of what was lost", faults.chunks)
}

/** Items that a process has under way: as many it may lose with a kill. */
const underWay = 4

function checkEmbeddings(report: Report, vendor: FakeEmbeddings, kills: number) {
  const times = new Map<string, number>()
  for (const text of vendor.requests.flatMap(({ input }) => input)) times.set(text, (times.get(text) ?? 0) + 1)
  const again = [...times.values()].reduce((sum, each) => sum + each - 1, 0)
  report.note(`${times.size} texts embedded, ${again} of them again`)
  // Each has five chunks at most and embeds them together: a kill loses what was on its way.
  const most = kills * underWay * 5
  report.promise(
    "a kill costs no more embeddings than were on their way",
    again <= most ? [] : [`${again} were made again, ${most} at most`],
  )
}

async function checkSearch(report: Report, deployment: Deployment, server: Instance, assistantId: string, books: Book[]) {
  const faults: string[] = []
  for (const { name, mark } of books.filter((book) => !book.fails).filter((_, index) => index % 30 === 0)) {
    const { body } = await post(`${server.url}/api/assistant-knowledge-new/query`, deployment.token, { assistantId, query: mark, take: 1 })
    if (body.data?.[0]?.knowledgeName !== name) faults.push(`${mark}: ${JSON.stringify(body.data?.[0] ?? body)}`)
  }
  report.promise("what is indexed is found", faults)
}
