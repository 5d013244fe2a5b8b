import { fetchSignedIn } from "../kit/session.js"

/** Saves all stretches of a list as a file of the browser. Throws an `Error` with the server's sentence, a `TypeError` when it does not answer. */
export async function saveCsv(list: { companyId: string; from: string; to: string; filter: string }, name: string): Promise<void> {
  const { companyId, from, to, filter } = list
  const query = new URLSearchParams({ companyId, from, to, filter })
  const response = await fetchSignedIn(`/api/stretches?${query}`, { headers: { Accept: "text/csv" } })
  if (!response.ok) throw new Error((await response.json().catch(() => null))?.message ?? response.statusText)
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url))
}
