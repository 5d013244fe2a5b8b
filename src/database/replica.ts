import type { Pool, PoolClient } from "pg"
import pg from "pg"
import type { Logger } from "pino"
import { operatorError } from "../errors/operator-error.js"
import type { Database } from "./connect.js"
import { pipelined } from "./kit/pipelined.js"
import { databaseLimits } from "./limits.js"
import { PoolGuard } from "./pool-guard.js"
import type { Connection, ReadMeter } from "./run-query.js"
import { runningSince } from "./write-position.js"

/** Which cluster and database a connection leads to, since when its server runs, whether it is a standby, and how far that has replayed the log of writes (WAL). */
const whereabouts = `select (select system_identifier::text from pg_control_system()) || ' ' || current_database() as identity,
  ${runningSince},
  pg_is_in_recovery() as is_standby, pg_last_wal_replay_lsn()::text as replayed`

const writtenTo = `select pg_current_wal_insert_lsn()::text as position, ${runningSince}`

/** A place in the log of writes as a number; PostgreSQL writes it as two hexadecimal numbers. */
function positionOf(text: string): bigint {
  const [high, low] = text.split("/") as [string, string]
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** What a credential has written, and what events have told its companies, as the primary knows it. */
export interface WrittenUpTo {
  /** Up to where the log of writes has it; null when that was nothing of late, as far as this run of the primary knows. */
  position: string | null
  /** Since when the primary runs, in seconds since 1970: after its restart or a promotion it knows no positions of before. */
  runningSince: string
}

/** How old a read may be. */
export interface Oldest {
  /** What the replica must have. */
  writtenUpTo: WrittenUpTo
  /** Called when the replica is read. */
  used(): void
}

/**
 * A streaming standby of the database, on which lists are read. It is asked every `replicaLookMs` how far it is, and used only as long as it is a standby
 * of this database, and not older than `replicaOldestMs`.
 */
export class Replica {
  readonly #guard = new PoolGuard()
  readonly #pool: Pool
  /** Since when the standby runs; what was heard of it before says nothing. */
  #runningSince: string | null = null
  /** Since when the primary of the marks runs. */
  #primarySince = ""
  /** How far the standby has replayed what was written, as last heard. */
  #replayed = -1n
  /** When the primary had written how much, in milliseconds of `performance.now()`; those that are not replayed yet. */
  #marks: { at: number; position: bigint }[] = []
  /** The time as of which it has everything. */
  #asOf = Number.NEGATIVE_INFINITY
  #problem: string | null = "it has not been asked yet"
  #asking: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  private constructor(
    url: string,
    private readonly primary: Pick<Database, "pool">,
    /** What identifies the database. */
    private readonly identity: string,
    private readonly log: Logger,
  ) {
    this.#pool = this.#guard.watch(
      new pg.Pool({
        connectionString: url,
        max: databaseLimits.replicaConnections,
        connectionTimeoutMillis: databaseLimits.replicaAnswerMs,
        pipeline: true,
        // Each connection, since the address may lead to another server tomorrow.
        verify: (client, done) => void this.#verify(client).then(() => done(), done),
      }),
    )
    // A lost connection that nobody uses.
    this.#pool.on("error", (error) => this.#lose(error))
  }

  /** Connects to the standby; throws for the operator when it belongs to another database. One that is away is used as soon as it answers. */
  static async open(url: string, primary: Pick<Database, "pool">, log: Logger): Promise<Replica> {
    const { rows } = await primary.pool.query(whereabouts)
    const replica = new Replica(url, primary, rows[0].identity, log)
    const problem = await replica.#look()
    if (problem?.cause !== wrongDatabase) return replica
    await replica.close()
    throw problem
  }

  /** Seconds by which it may be behind; null while that is not known, because it does not answer or has been started again. */
  get age(): number | null {
    return this.#problem === null && Number.isFinite(this.#asOf) ? (performance.now() - this.#asOf) / 1_000 : null
  }

  /** Whether it can be read, and has what was written. */
  async has({ position, runningSince }: WrittenUpTo): Promise<boolean> {
    // What was written in an earlier run of the primary is there with the first mark of this one.
    if (!this.#isUsable || runningSince !== this.#primarySince) return false
    if (position === null) return true
    const wanted = positionOf(position)
    if (wanted <= this.#replayed) return true
    await this.#ask().catch((error) => this.#lose(error))
    return this.#isUsable && wanted <= this.#replayed
  }

  /** Reads like `primary`, but on the standby as long as `oldest` allows it; where is decided once, so that the rows belong together. */
  reading(primary: Connection, meterOf: () => ReadMeter, oldest: () => Oldest | null): Connection {
    const standby = pipelined(this.#pool, meterOf)
    let place: Promise<Connection> | null = null
    return {
      send: async (...statement) => {
        const wanted = oldest()
        if (!wanted) return primary.send(...statement)
        place ??= this.has(wanted.writtenUpTo).then((has) => (has ? standby : primary))
        if ((await place) === primary) return primary.send(...statement)
        wanted.used()
        return standby.send(...statement)
      },
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#guard.suspend()
    await this.#pool.end()
  }

  get #isUsable() {
    return this.#problem === null && performance.now() - this.#asOf <= databaseLimits.replicaOldestMs
  }

  /** Asks the primary how much is written, and the standby how much it has; again and again. Returns what it failed with. */
  async #look(): Promise<Error | null> {
    const at = performance.now()
    let problem: Error | null = null
    try {
      const [{ position, running_since: since }] = (await this.primary.pool.query(writtenTo)).rows
      if (since !== this.#primarySince) this.#forget()
      this.#primarySince = since
      this.#marks = [...this.#marks, { at, position: positionOf(position) }].slice(-databaseLimits.replicaMarks)
      await this.#ask()
    } catch (error) {
      problem = error as Error
      this.#lose(problem)
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#look(), databaseLimits.replicaLookMs)
    return problem
  }

  /** Asks the standby how far it is; those that want to know at the same time get one answer. */
  #ask(): Promise<void> {
    this.#asking ??= this.#answer().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #answer() {
    this.#guard.resume()
    // It may be silent: then whatever waits for it fails, and is read on the primary.
    const silent = setTimeout(() => this.#guard.suspend(), databaseLimits.replicaAnswerMs)
    try {
      const { rows } = await this.#pool.query(whereabouts)
      this.#heard(rows[0])
    } finally {
      clearTimeout(silent)
    }
  }

  #heard({ is_standby: isStandby, replayed }: { is_standby: boolean; replayed: string | null }) {
    if (!isStandby || replayed === null) return this.#lose(new Error("it is not a standby any more"))
    this.#replayed = positionOf(replayed)
    for (const mark of this.#marks) if (mark.position <= this.#replayed) this.#asOf = Math.max(this.#asOf, mark.at)
    this.#marks = this.#marks.filter(({ position }) => position > this.#replayed)
    if (this.#problem !== null) this.log.info("lists are read on the replica")
    this.#problem = null
  }

  async #verify(client: PoolClient) {
    const { rows } = await client.query(whereabouts)
    if (rows[0].identity !== this.identity)
      throw operatorError("DATABASE_REPLICA_URL: that is no standby of the database in DATABASE_URL", wrongDatabase)
    const since = rows[0].running_since
    if (this.#runningSince === since) return
    const isFirst = this.#runningSince === null
    this.#runningSince = since
    if (isFirst) return
    // It may have less than was heard, and connections to the other one may be open.
    this.#forget()
    this.#guard.suspend()
    throw new Error("it was started again, or is another one")
  }

  #forget() {
    this.#marks = []
    this.#asOf = Number.NEGATIVE_INFINITY
    this.#replayed = -1n
  }

  #lose({ message }: Error) {
    if (this.#isClosed) return
    if (this.#problem !== message) this.log.warn({ reason: message }, "the replica is not used; everything is read on the primary")
    this.#problem = message
  }
}

const wrongDatabase = new Error("The replica belongs to another database")
