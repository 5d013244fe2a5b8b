/** The values of a metric by its labels, in Prometheus's text format. */
export const valuesOf = (text: string, name: string) =>
  new Map([...text.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)$`, "gm"))].map(([, labels = "", value]) => [labels, Number(value)]))

/** The values that a server on this machine shows of a metric. */
export const scraped = async ({ url }: { url: string }, name: string) => valuesOf(await (await fetch(`${url}/metrics`)).text(), name)
