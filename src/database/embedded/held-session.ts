import pg from "pg"

const AGAIN_MS = 5_000
const TIMEOUT_MS = 10_000

/**
 * A session that a process keeps while it uses the embedded database, because that stops when it had no session for a minute, and the pools of
 * a command close idle connections. When it is lost, as after a crash of PostgreSQL, it is opened again, and `reopened` is called.
 */
export class HeldSession {
  #client: pg.Client | null = null
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  private constructor(
    private readonly url: string,
    private readonly reopened: () => Promise<void>,
  ) {}

  /** Opens a session; one that cannot be opened fails, and is not opened later. */
  static async open(url: string, reopened: () => Promise<void>): Promise<HeldSession> {
    const session = new HeldSession(url, reopened)
    try {
      await session.#connect()
      return session
    } catch (error) {
      // The caller tries again, with another session.
      await session.close()
      throw error
    }
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ connectionString: this.url, ssl: false, connectionTimeoutMillis: TIMEOUT_MS, keepAlive: true })
    // Each loss is followed by `end`, also that of a connection that was not made.
    client.on("error", () => {})
    client.once("end", () => this.#again())
    await client.connect()
    this.#client = client
    if (this.#isOver) await client.end()
  }

  #again() {
    if (this.#isOver) return
    // A failure is followed by `end`, or by the next loss.
    const reopen = () =>
      this.#connect()
        .then(this.reopened)
        .catch(() => {})
    this.#timer = setTimeout(reopen, AGAIN_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#client?.end()
  }
}
