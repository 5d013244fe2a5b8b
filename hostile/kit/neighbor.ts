import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Company } from "./company.js"
import type { NeighborOrder, NeighborSight } from "./neighbor-process.js"
import { Ref } from "./pools.js"

/** Another company's client, which measures how long its small query takes. */
export class Neighbor {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, "neighbor-process.ts"), { stdio: "inherit" })

  /** Begins to query a server, and forgets what it saw. */
  async begin(url: string, company: Company, foreign: Company, pauseMs: number) {
    const { tokens, marker, pools } = company
    const order: NeighborOrder = { url, tokens, marker, chatId: pools.valueOf(new Ref("Chat", 0)), foreignMarker: foreign.marker, pauseMs }
    this.#child.send(order)
    await this.read()
  }

  /** What it saw since the last call. */
  async read(): Promise<NeighborSight> {
    const answer = once(this.#child, "message")
    this.#child.send("read")
    return (await answer)[0] as NeighborSight
  }

  /** Stops querying. */
  stop() {
    this.#child.send("stop")
  }

  close() {
    this.#child.kill()
  }
}

/** The middle of some numbers; 0 of none. */
export const median = (values: number[]): number => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0

/** Medians of a time: of the query, and of a server that does nothing. */
export interface Medians {
  answer: number
  delay: number
}

export const mediansOf = ({ times, idleTimes }: NeighborSight): Medians => ({ answer: median(times), delay: median(idleTimes) })

/** How many times its median at rest the query takes; where the machine delays also a server that does nothing, it may take that much longer. */
export const timesAtRest = (quiet: Medians, { answer, delay }: Medians): number =>
  answer / (quiet.answer * Math.max(1, delay / quiet.delay))
