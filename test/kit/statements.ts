import type pg from "pg"
import type { World } from "./world.js"

/** What the server asks at intervals, which on a slow machine pass during any call: its sweeps, and whether sockets are still allowed. */
const atIntervals =
  /^(?:sockets-changed|due-|counts-|renew-lease-|clear-|companies-with-|quiet-chats|end-lost-tool-calls|known-files|end-quiet-stretches|chats-without-stretches|ungrouped-questions|outcome-)/

/**
 * The statements on chats, channels and what belongs to them that the server sends during a call, by name or as text: not those of the
 * sequencer, nor those sent at intervals. The call may ask for the names of all statements that were sent so far.
 */
export async function statementsOf({ services }: World, work: (names: () => string[]) => PromiseLike<unknown>): Promise<string[]> {
  const { prototype } = (services.database.pool as unknown as { Client: typeof pg.Client }).Client
  const sent = jest.spyOn(prototype, "query")
  const statements = () =>
    sent.mock.calls.map(([statement]) => {
      const { name, text = "" } = statement as unknown as { name?: string; text?: string }
      return { name: name ?? text, text }
    })
  await work(() => statements().map(({ name }) => name))
  const all = statements()
  sent.mockRestore()
  return all
    .filter(({ name, text }) => /\b(?:chat|channel|message|assistant|subscription)\b/.test(text) && !atIntervals.test(name))
    .map(({ name }) => name)
}
