import type { EntityClass, FilterQuery } from "@mikro-orm/postgresql"
import { LockMode } from "@mikro-orm/postgresql"
import type { GraphQLResolveInfo } from "graphql"
import type { Logger } from "pino"
import { constraintError } from "../database/conflicts.js"
import type { PlannedRow, ReadModel } from "../database/read-model.js"
import { type Reader, readerOnPool } from "../database/reader.js"
import type { Oldest, WrittenUpTo } from "../database/replica.js"
import type { EntityName } from "../database/tables.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import type { Actor } from "../entities/control-change.js"
import type { Row } from "../entities/kit/row.js"
import { BadUserInput, Forbidden, NotFound } from "../errors/errors.js"
import type { ArrivingForm } from "../media/upload.js"
import { connectionUses } from "./connection-uses.js"
import { companiesOf, credentialOf, type Identity } from "./identity.js"
import { OperationReads } from "./read-budget.js"
import { selectionOf } from "./selection.js"
import type { Services } from "./services.js"
import { inTransaction } from "./transaction.js"
import { noteWrite } from "./write-position.js"

/** Facts of a request besides its credentials. */
export interface RequestInfo {
  requestId: string
  /** Client address; `X-Forwarded-For` counts only from trusted proxies. */
  address: string
  log: Logger
  /** Response headers that resolvers add, for transports with headers. */
  headers: Record<string, string>
  /** Whether the transport has counted the sign-in attempt. */
  attemptCounted?: boolean
  /** The multipart form with the files of the request. */
  form?: ArrivingForm
  /** What the operation has read, when its response is counted until it has left. */
  reads?: OperationReads
  /** What its credential has written, as read with the credential; absent where that is read once for many operations, null for a new credential. */
  writtenUpTo?: WrittenUpTo | null
  /** Whether it has written something. */
  hasWritten?: boolean
  /** Whether this is durable work, which leaves database connections to requests. */
  isWork?: boolean
  /** The socket that a subscription runs on. */
  socket?: {
    /** The company that the connection was opened for. */
    companyId: string | null
    /** Closes it because its client reads too slowly. */
    cut(): void
  }
}

/** The context of a request or of a job's step: its identity, the companies in reach, and its access to the data. */
export class RequestContext {
  readonly companyIds: string[]
  // No #private name, because Apollo gives its executor a copy of the context, which lacks such fields.
  private reading?: Reader

  constructor(
    readonly services: Services,
    readonly identity: Identity,
    readonly request: RequestInfo,
    private readonly openUnit?: UnitOfWork,
    /** Name of the running mutation, command or job, for the audit trail. */
    private readonly action: string | null = null,
  ) {
    this.companyIds = companiesOf(identity)
  }

  /** Planned reads; in a transaction they include its changes. */
  get reader(): Reader {
    if (this.openUnit) return this.openUnit.reader
    const { database, mediaUrls, replica } = this.services
    const meterOf = () => this.request.reads ?? new OperationReads()
    this.reading ??= readerOnPool(
      database,
      this.companyIds,
      (id) => mediaUrls.of(id),
      meterOf,
      replica && ((primary) => replica.reading(primary, meterOf, () => this.oldest())),
    )
    return this.reading
  }

  /** Reads again, and on the primary, after an error that the replica may have caused. */
  readAgain(error: Error) {
    this.request.log.debug({ err: error }, "a list on the replica failed; it is read on the primary")
    this.reading = undefined
    this.request.reads!.forget()
    this.request.reads!.begin(false, false)
  }

  /** Up to where the replica must be for the running operation; null when it is to be read on the primary. */
  private oldest(): Oldest | null {
    const { reads, writtenUpTo, hasWritten } = this.request
    if (!reads?.mayBeOld || !writtenUpTo || hasWritten) return null
    return { writtenUpTo, used: () => Object.assign(reads, { isOld: true }) }
  }

  /** Notes what a user or a token has written, so that its next lists have it. */
  private async written<T>(result: T): Promise<T> {
    const { services, identity, request } = this
    if (!services.replica || (identity.kind !== "user" && identity.kind !== "token")) return result
    request.hasWritten = true
    // The change is committed, whatever happens here.
    await noteWrite(services.database, credentialOf(identity)!).catch((error) =>
      request.log.warn({ err: error }, "the replica may be read before it has what was written"),
    )
    return result
  }

  /** The unit of work of the running transaction; throws outside one. */
  get unit(): UnitOfWork {
    if (!this.openUnit) throw new Error("There is no transaction here: reads are planned, writes need context.transaction()")
    return this.openUnit
  }

  /** The EntityManager of the running transaction. */
  get em() {
    return this.unit.em
  }

  get actor(): Actor {
    if (this.identity.kind === "user") return { kind: "user", id: this.identity.userId }
    if (this.identity.kind === "token") return { kind: "token", id: this.identity.tokenId }
    return { kind: "system", id: null }
  }

  /** The signed-in user; null under an access token. */
  get userId() {
    return this.identity.kind === "user" ? this.identity.userId : null
  }

  /** The company of a new object: the named one, otherwise the only one in reach. */
  company(companyId?: string | null): string {
    if (companyId) return this.reach(companyId)[0]!
    if (this.companyIds.length === 1) return this.companyIds[0]!
    throw new BadUserInput("companyId is required with more than one company", [
      { path: "companyId", message: "is required with more than one company" },
    ])
  }

  /** The companies that a list covers: the named one, otherwise all in reach. */
  reach(companyId?: string | null): string[] {
    if (!companyId) return this.companyIds
    if (!this.companyIds.includes(companyId)) throw new Forbidden("You have no access to this company")
    return [companyId]
  }

  /** One row by a planned read; throws NOT_FOUND when it is missing or out of reach. */
  async one<N extends EntityName>(
    model: ReadModel<N>,
    id: string,
    info: GraphQLResolveInfo,
    noun: string = model.name,
  ): Promise<PlannedRow<N>> {
    const row = await this.reader.byId(model, id, selectionOf(info))
    if (!row) throw new NotFound(noun)
    return row
  }

  /** Finds a row by its ID; NOT_FOUND when it is missing or foreign. The row is locked, so that decisions about it still hold at commit. */
  async find<T extends Row>(
    entity: EntityClass<T>,
    id: string,
    noun = entity.name,
    lockMode: LockMode.PESSIMISTIC_WRITE | LockMode.PESSIMISTIC_READ = LockMode.PESSIMISTIC_WRITE,
  ): Promise<T> {
    const row = await this.em.findOne(entity, { id } as FilterQuery<T>, { lockMode })
    if (!row) throw new NotFound(noun)
    return row
  }

  /** Finds a row that an input refers to; bad input when it is missing or of another company. Locked if a lock is given. */
  async referred<T extends Row>(entity: EntityClass<T>, id: string, path: string, companyId?: string, lockMode?: LockMode): Promise<T> {
    const wanted = { id, ...(companyId && { companyId }) } as unknown as FilterQuery<T>
    const row = await this.em.findOne(entity, wanted, lockMode ? { lockMode } : {})
    if (!row) throw new BadUserInput(`${path} does not exist in this company`, [{ path, message: "does not exist in this company" }])
    return row
  }

  /** Runs a statement in the current transaction. */
  run<R = Record<string, unknown>>(statement: Statement<R>, values: unknown[]): Promise<R[]> {
    return this.unit.run(statement, values)
  }

  /** Runs `work` in a new or the current transaction; events are stored in it, jobs and subscribers are notified after the commit. */
  async transaction<T>(work: (tx: RequestContext) => Promise<T>): Promise<T> {
    if (this.openUnit) return work(this)
    const { companyIds, actor, action } = this
    const request = this.identity.kind === "system" ? null : this.request
    return this.inTurn(() =>
      inTransaction(this.services, { companyIds, actor, action, request }, (unit) =>
        work(new RequestContext(this.services, this.identity, this.request, unit, action)),
      ),
    ).then((result) => this.written(result))
  }

  /** The same context, whose changes the audit trail records under the name of a mutation. */
  acting(action: string): RequestContext {
    return new RequestContext(this.services, this.identity, this.request, this.openUnit, action)
  }

  /** Runs one statement as its own transaction. One that writes events returns a row when it did. */
  async statement<R = Record<string, unknown>>({ name, text, jobs }: Statement<R>, values: unknown[]): Promise<R[]> {
    const { database, sequencer, scheduler } = this.services
    const { rows } = await this.inTurn(() => database.pool.query({ name, text, values })).catch((error) => {
      throw constraintError(error)
    })
    if (rows.length > 0 && writesEvents(text)) void sequencer.poke()
    if (jobs) for (const job of rows.flatMap(jobs)) void scheduler.schedule(job)
    return this.written(rows)
  }

  /** Uses a database connection: without a person's request only some are used at once. */
  private inTurn<T>(use: () => Promise<T>): Promise<T> {
    if (this.identity.kind !== "system") return use()
    const { database, turns } = this.services
    if (!this.request.isWork) return connectionUses(database).inTime(use)
    const [companyId] = this.companyIds as [string]
    return connectionUses(database).forWork(companyId, (work) => turns.run(companyId, "work", work), use)
  }
}

/** Read from its text, so that no statement can forget to say it. */
const writesEvents = (text: string) => text.includes("insert into event ")

/** The context of a job, a hook or a command, for one company. `action` is the name of one that changes what is audited. */
export const systemContext = (services: Services, companyId: string, action: string | null = null): RequestContext =>
  new RequestContext(
    services,
    { kind: "system", companyIds: [companyId] },
    { requestId: "-", address: "-", log: services.log, headers: {} },
    undefined,
    action,
  )

/** The context of durable work of a kind, for one company. */
export const workContext = (services: Services, companyId: string, kind: string, log: Logger): RequestContext =>
  new RequestContext(
    services,
    { kind: "system", companyIds: [companyId] },
    { requestId: "-", address: "-", log, headers: {}, isWork: true },
    undefined,
    kind,
  )
