import type { Recording } from "./player.js"

/** What differs between two recordings, by where it came from: addresses of the servers, and secrets of the demo. */
export type Replaced = Record<string, string>

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Values that are secret or depend on the speed of the machine, by the names of their fields. */
const byField: Record<string, (value: unknown) => unknown> = {
  accessToken: () => "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIwMTk3YTNjMCJ9.c2lnbmF0dXJl",
  refreshToken: () => "cmVmcmVzaC10b2tlbi1vZi10aGUtZXhhbXBsZXM",
  token: () => "amp_4Xb2mKq7Tz9RwJc5VnHs8LdPf3GyAe6U",
  tokenPrefix: () => "amp_4Xb2mKq7",
  secret: () => "whsec_ZXhhbXBsZSBvZiBhIHdlYmhvb2sgc2VjcmV0IQ==",
  nextCursor: (value) => value && "MjAyNi0wMS0zMFQwOToxNTowMC4wMDBa",
  eventId: () => "ZTo0Nw",
  latencyMs: (value) => value && 40,
  averageLatencyMs: (value) => value && 40,
}

/** A recording in which IDs are numbered in the order of their appearance, so that the same answers are the same text at any time. */
export function normalized(recording: Recording, replaced: Replaced): Recording {
  const ids = new Map<string, string>()
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `0197a3c0-8f00-7000-8000-${String(ids.size + 1).padStart(12, "0")}`)
    return ids.get(id)!
  }
  const values = Object.entries(replaced)
  const textOf = (text: string) =>
    values
      .reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
      .replace(uuids, numbered)
      .replace(/in \d+ seconds/, "in 60 seconds")
      .replace(
        /([?&](?:signature|expires)=)[\w-]+/g,
        (_all, name: string) => `${name}${name.includes("expires") ? "1769768100" : "c2lnbmF0dXJl"}`,
      )
  const of = (value: unknown, field = ""): unknown => {
    if (byField[field]) return byField[field](value)
    if (typeof value === "string") return textOf(value)
    if (Array.isArray(value)) return value.map((item) => of(item))
    if (value === null || typeof value !== "object") return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, of(inner, name)]))
  }
  return of(recording) as Recording
}
