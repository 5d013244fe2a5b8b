import pino from "pino"
import type { Services } from "../context/services.js"
import { startSequencer } from "../events/sequencer.js"
import { storage } from "../ports/index.js"
import type { CommandContext } from "./kit.js"

/**
 * The services with which a command runs operations of the server: those of the database, the events and the files. It starts no jobs,
 * because what is due is stored on rows, where the sweeps of a server find it.
 */
export async function commandServices(desk: CommandContext, stack: AsyncDisposableStack): Promise<Services> {
  const { config, database, wakeUp, snapshotOf, append } = desk
  await desk.loadReadModels?.()
  const log = pino({ level: "silent" })
  // It gives events their positions also when no server runs.
  const sequencer = startSequencer(database, wakeUp, log)
  stack.defer(() => sequencer.stop())
  const stopping = new AbortController()
  stack.defer(() => stopping.abort())
  const scheduler = { schedule: async () => {}, ping: async () => {} }
  const services = {
    config,
    database,
    log,
    snapshotOf,
    append,
    sequencer,
    scheduler,
    stopping: stopping.signal,
    storage: await storage(config),
  }
  return { ...services, wakeUp } as unknown as Services
}
