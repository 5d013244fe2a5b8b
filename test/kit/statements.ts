import type pg from "pg"
import type { World } from "./world.js"

/**
 * The statements on chats, channels and what belongs to them that the server sends during a call, by name or as text: not those of the
 * sequencer.
 */
export async function statementsOf({ services }: World, work: () => PromiseLike<unknown>): Promise<string[]> {
  const { prototype } = (services.database.pool as unknown as { Client: typeof pg.Client }).Client
  const sent = jest.spyOn(prototype, "query")
  await work()
  const all = sent.mock.calls.map(([statement]) => statement as unknown as { name?: string; text?: string })
  sent.mockRestore()
  return all
    .filter(({ text }) => /\b(?:chat|channel|message|assistant|subscription)\b/.test(text ?? ""))
    .map(({ name, text }) => name ?? text!)
}
