import type { ChildProcess } from "node:child_process"
import { cores, end, startNode } from "../processes.js"

/** A process of the benchmark beside the servers: it answers one order at a time. */
export class Helper {
  private constructor(private readonly child: ChildProcess) {}

  /** Starts a file of this folder on the core that the servers do not use. */
  static start(file: string): Helper {
    return new Helper(startNode(cores.rest, ["--import", "tsx", `bench/turns/${file}`], {}, { ipc: true }))
  }

  /** Gives an order and waits for its answer. */
  ask<T>(order: object | string): Promise<T> {
    const { child } = this
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error("A helper of the benchmark ended"))
      child.once("exit", ended)
      child.once("message", (answer) => {
        child.off("exit", ended)
        const { error } = answer as { error?: string }
        if (error) reject(new Error(error))
        else resolve(answer as T)
      })
      child.send(order)
    })
  }

  stop() {
    return end(this.child)
  }
}

/** In a helper: answers every order of the parent, and ends with it. */
export function answerOrders<Order>(answer: (order: Order) => Promise<object> | object) {
  process.on("message", async (order: Order) => {
    try {
      process.send!(await answer(order))
    } catch (error) {
      process.send!({ error: String(error) })
    }
  })
  process.on("disconnect", () => process.exit(0))
}
