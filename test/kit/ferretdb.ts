import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./free-port.js"
import { happens, until } from "./wait.js"

/** The program of test/ferretdb, which speaks MongoDB's protocol; null where it was not built. */
export const ferretProgram = process.env["TEST_FERRETDB"] ?? null

/** A server that speaks MongoDB's protocol, which a test can lose and start again with what it has stored. */
export class FerretDB {
  #child: ChildProcess | null = null
  readonly #folder = mkdtempSync(join(tmpdir(), "ferretdb-"))

  private constructor(private readonly port: number) {}

  /** Starts one on a free port. */
  static async start(): Promise<FerretDB> {
    const ferret = new FerretDB(await freePort())
    await ferret.start()
    return ferret
  }

  get url() {
    return `mongodb://127.0.0.1:${this.port}`
  }

  /** Starts it on its port; resolves when it accepts connections. */
  async start() {
    const child = spawn(ferretProgram!, [`127.0.0.1:${this.port}`, this.#folder], { stdio: "ignore" })
    this.#child = child
    // It says nothing when it is ready.
    await until("FerretDB accepts connections", async () => {
      if (child.exitCode !== null) throw new Error(`FerretDB ended with ${child.exitCode}`)
      return accepts(this.port)
    })
  }

  /** Kills it; what it has stored stays. */
  async kill() {
    this.#child?.kill("SIGKILL")
    if (this.#child?.exitCode === null && this.#child.signalCode === null) await happens("FerretDB has ended", once(this.#child, "exit"))
  }

  /** Kills it and removes what it has stored. */
  async remove() {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.unref()
    socket.once("connect", () => socket.destroy())
  })
}
