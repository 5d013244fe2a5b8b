import type { Client } from "./fixtures.js"

/** The rules of the guardrails that hit, in the order of their hits. */
export async function hitsIn(client: Client, filter: string): Promise<string[]> {
  const { data } = await client.rest("GET", `/api/guardrail-hits?take=100&filter=${filter}`)
  return data.map(({ direction, rule }: Record<string, string>) => `${direction}.${rule}`).reverse()
}
