import type { Faults } from "../kit/faults.js"
import type { HookSender } from "../kit/hook-sender.js"

/** Options of the command. */
export interface SimulationOptions {
  faults: Faults
  /** Port of the stand-in; 0 is a free one. */
  port: number
  /** The platform's hook, where it is not registered by the platform itself. */
  hookUrl: string | null
  /** The secret that hook requests are proved with; one of the stand-in's own when absent. */
  secret?: string
}

/** How the platform is connected to a stand-in. */
export interface Connection {
  messenger: string
  externalId: string
  credentials: Record<string, string>
  /** Environment variables that the server needs. */
  environment: Record<string, string>
}

/** A chat with the platform in which the user of the terminal is the customer. */
export interface Simulation {
  connection: Connection
  /** Is called with the address of the hook, where the platform does not tell it to the vendor. */
  connected?(hookUrl: string): void
  /** Null where the platform asks for messages. */
  hooks: HookSender | null
  write(text: string): void
  /** What else the customer can do, by name; a command throws a sentence for an argument that it cannot use. */
  commands: Record<string, { help: string; run(argument: string): void }>
  close(): Promise<void>
}

/** Makes a simulation; `show` prints a line about what has arrived at the customer. */
export type OpenSimulation = (options: SimulationOptions, show: (line: string) => void) => Promise<Simulation>
