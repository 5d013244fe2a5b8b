import { sleep, until } from "../../test/kit/campaign/wait.js"
import { type Company, graphql, post } from "./company.js"
import { Ref } from "./pools.js"
import type { TestBed } from "./test-bed.js"

/** Uploads a file of a company and makes it a knowledge item; returns the item's ID. */
export async function indexFile(url: string, company: Company, bytes: Uint8Array, filename: string): Promise<string> {
  const form = new FormData()
  form.append("file", new Blob([new Uint8Array(bytes)]), filename)
  const answer = await fetch(`${url}/api/media/upload`, { method: "POST", headers: { "x-access-token": company.token }, body: form })
  const { id: fileId } = (await answer.json()) as { id: string }
  return indexItem(url, company, { kind: "file", fileId })
}

/** Makes a searchable knowledge item; returns its ID. */
export async function indexItem(url: string, company: Company, content: object): Promise<string> {
  const assistantId = company.pools.valueOf(new Ref("Assistant", 0))
  const item = { assistantId, name: `Item ${company.marker}`, isVector: true, ...content }
  return (await post(`${url}/api/assistant-knowledge-new`, company.token, item)).id
}

/** How long another company's small text file takes until it can be searched, in seconds. */
export async function secondsToIndex({ server, victim }: TestBed, deadlineMs: number): Promise<number> {
  const begin = performance.now()
  const id = await indexFile(server.url, victim, Buffer.from(`Opening hours of ${victim.marker}`), "hours.txt")
  await until(async () => {
    await sleep(100)
    const { knowledgeItem } = await graphql(server.url, victim.token, `{ knowledgeItem(id: "${id}") { indexStatus } }`)
    return knowledgeItem.indexStatus === "INDEXED"
  }, deadlineMs)
  return (performance.now() - begin) / 1_000
}
