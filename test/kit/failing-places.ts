import { codeOf, type Source } from "./house-rules.js"

/** Modules whose objects emit `error`, or end and are then noticed by an event only. */
const emitting =
  /^(node:(child_process|cluster|dgram|events|http|http2|https|net|readline|stream|tls|worker_threads|zlib)|agenda|@agendajs\/.+|busboy|engine\.io|ioredis|koa|mongodb|pg|pino|socket\.io|undici|ws|graphql-upload-minimal|@mikro-orm\/postgresql|@opentelemetry\/exporter.+)$/

/** Names that a file imports from those modules, also dynamically; without types. */
function importedNames(code: string): string[] {
  const imports = [...code.matchAll(/\bimport\s+(?!type\b)([^;"']+?)\s+from\s+"([^"]+)"/g)]
    .filter(([, , module]) => emitting.test(module!))
    .map(([, clause]) => clause!.replace(/\btype\s+\w+/g, ""))
  const dynamic = [...code.matchAll(/const ([[{][^=]*[}\]]) =\s*await (?:Promise\.all\(\[)?((?:\s*import\("[^"]+"\),?)+)/g)]
    .filter(([, , calls]) => [...calls!.matchAll(/"([^"]+)"/g)].some(([, module]) => emitting.test(module!)))
    .map(([, pattern]) => pattern!)
  // Of `name as other`, the second.
  const names = [...imports, ...dynamic].flatMap((list) => list.replace(/\w+\s+as\s+/g, "").match(/\w+/g) ?? [])
  return names.filter((name) => !harmless.has(name))
}

/** Names of those modules that make nothing which could fail later: functions that wait, answer at once, or only compute. */
const harmless = new Set([
  "once",
  "finished",
  "isIP",
  "crc32",
  "execFileSync",
  "Readable",
  "sdk",
  "resourceFromAttributes",
  "AsyncLocalStorageContextManager",
  "W3CTraceContextPropagator",
  "Upload",
  "defineConfig",
])

/** Where a file makes a stream, socket, server, process, worker, pool or emitter, each with its number when there are several. */
export function failingPlaces({ path, text }: Source): string[] {
  const code = codeOf(text)
  const names = importedNames(code)
  const patterns = [
    /\.create(?:Read|Write)Stream(?=\()/g,
    /(?<![.\w])create(?:Read|Write)Stream(?=\()/g,
    /\bprocess\.(?:stdout|stderr)\.write(?=\()/g,
    /\bReadable\.from(?=\()/g,
    // Also `new pg.Client(`, `pino.destination(`, and classes that extend one of them.
    ...(names.length
      ? [new RegExp(`(?<![.\\w])(?:(?:new )?(?:${names.join("|")})(?:\\.\\w+)?(?=[(<])|extends (?:${names.join("|")})\\b)`, "g")]
      : []),
  ]
  const found = new Map<string, number>()
  for (const [place] of patterns.flatMap((pattern) => [...code.matchAll(pattern)])) found.set(place, (found.get(place) ?? 0) + 1)
  return [...found].map(([place, count]) => `${path}: ${place}${count > 1 ? ` × ${count}` : ""}`)
}

const here = "test/system/failing-places.test.ts"

/**
 * Every stream, socket, child process, worker, pool and emitter that the server makes, with what happens when it fails, and the test that
 * shows it: a file and words of the test's title. Without a listener for `error`, a failure ends the process.
 */
export const places: Record<string, [happens: string, file?: string, title?: string]> = {
  "src/admin/run.ts: process.stdout.write": ["The command ends: it has done its work."],
  "src/admin/run.ts: process.stderr.write": ["The command ends: it has done its work."],
  "src/admin/export-file.ts: createReadStream": ["The command ends with the error; the next run continues."],
  "src/admin/backup-file.ts: Readable.from": ["The command ends with the error; the database has no companies."],
  "src/admin/backup-file.ts: createWriteStream": ["The command ends with the error, and leaves no file."],
  "src/admin/backup.ts: new pg.Client": ["The command ends with the error, and leaves no file."],
  "src/admin/restore.ts: createWriteStream": ["The command ends with the error; the database has no companies."],
  "src/admin/restore.ts: new pg.Client": ["The command ends with the error; the database has no companies."],
  "src/admin/export-file.ts: createWriteStream": ["The command ends with the error; the next run continues."],
  "src/admin/services.ts: pino": ["Writes nothing: silent."],
  "src/admin/open.ts: pino": ["Writes nothing: silent."],
  "src/admin/channel-vendor.ts: pino": ["Writes nothing: silent."],
  "src/app.ts: new Koa": ["A line is logged, and the response is cut.", here, "a response whose rows cannot be read to the end is cut"],
  "src/app.ts: createServer": ["A line is logged; the server still listens.", here, "a connection that cannot be accepted is logged"],
  "src/app.ts: new ServerResponse": ["It is never sent: Koa needs one to compute the address of a socket's client."],
  "src/channels/fetch-file.ts: Readable.from": [
    "Reads from memory; a file that cannot be written is fetched again.",
    "test/media/media.test.ts",
    "that its sender aborts leaves nothing",
  ],
  "src/mcp-servers/pictures.ts: Readable.from": ["Reads from memory; a picture that cannot be written is left out, and a line is logged."],
  "src/context/rate-limit.ts: new Redis": [
    "A line is logged; each instance counts alone until the connection is made again.",
    "test/events/wake-up.test.ts",
    "two instances count requests together, per credential and per address, and each alone while Redis is away",
  ],
  "src/database/connect.ts: MikroORM.init": [
    "Its pool listens, and replaces the connection.",
    "test/http/health.test.ts",
    "recovers when the database ends every connection",
  ],
  "src/database/embedded/idle-stop.ts: new pg.Client": [
    "The start fails, or starts a database that was stopping.",
    "test/system/embedded.test.ts",
    "the database stops by itself, and the next start finds every row",
  ],
  "src/database/embedded/held-session.ts: new pg.Client": [
    "It is opened again after a few seconds.",
    "test/system/embedded.test.ts",
    "of PostgreSQL's session that stops it, and of all others, the server has it again",
  ],
  "src/database/embedded/init.ts: spawn": ["The start fails with one line.", here, "a PostgreSQL that cannot be started"],
  "src/database/embedded/postmaster.ts: spawn": ["The start fails with one line.", here, "a PostgreSQL that cannot be started"],
  "src/database/embedded/roles.ts: new pg.Client": [
    "The start fails; the next one repeats the change.",
    "test/system/embedded-role.test.ts",
    "stays as it was when the process is killed in between",
  ],
  "src/database/embedded/start.ts: new pg.Client": [
    "The next attempt follows.",
    "test/system/embedded.test.ts",
    "the next one waits for the recovery",
  ],
  "src/database/embedded/start.ts: createServer": [
    "Another port is chosen.",
    "test/system/embedded.test.ts",
    "uses another port when the stored one is taken",
  ],
  "src/database/heartbeat.ts: new Client": [
    "A line is logged, and the connection is made again.",
    "test/system/database-away.test.ts",
    "a database that resets every connection",
  ],
  "src/database/kit/measured-query.ts: extends Query": [
    "Its callback gets the error.",
    "test/context/read-budget.test.ts",
    "is refused, as often as it is sent, and others are served meanwhile",
  ],
  "src/database/migrate.ts: new Pool": ["The start fails.", here, "migrations whose lock is lost fail"],
  "src/database/migrate.ts: new PostgresBackend": ["Uses the pool of MikroORM, and no LISTEN."],
  "src/database/place.ts: new pg.Client": ["It never connects."],
  "src/database/replica.ts: new pg.Pool": [
    "What was read there is read on the primary; the replica is asked again after a moment.",
    "test/system/replica.test.ts",
    "a replica that is killed costs no request",
  ],
  "src/database/vector-index.ts: new Client": ["The statement fails too, which is logged; the next search tries again."],
  "src/events/transports/graphql-ws.ts: new WebSocketServer": [
    "It has no server of its own; the sockets of upgrades, and open ones, have listeners.",
    "test/http/hostile-requests.test.ts",
    "that the client resets does no harm",
  ],
  "src/events/transports/socket-io.ts: new EngineServer": [
    "It has no server of its own, and listens to its connections; the sockets of upgrades have listeners.",
    "test/http/hostile-requests.test.ts",
    "that the client resets does no harm",
  ],
  "src/events/transports/socket-io.ts: new Server": [
    "A connection with a malformed packet is closed.",
    "test/events/socket-io-connections.test.ts",
    "malformed packets close their connection, and do no harm",
  ],
  "src/events/wake-up.ts: new EventEmitter × 2": [
    "Emits what the channel brings; a line is logged for what cannot be read.",
    here,
    "a wake-up that cannot be read is logged",
  ],
  "src/events/wake-up.ts: new Redis × 2": [
    "A line is logged; the connections are made again.",
    "test/events/wake-up.test.ts",
    "an outage of Redis loses no event and refuses no request",
  ],
  "src/http/form.ts: extends PassThrough": ["The upload is refused.", "test/media/media.test.ts", "that its sender aborts leaves nothing"],
  "src/http/form.ts: busboy": ["The upload is refused.", "test/media/media.test.ts", "that its sender aborts leaves nothing"],
  "src/http/graphql.ts: processRequest": [
    "The request is refused.",
    "test/http/hostile-requests.test.ts",
    "bytes that are not HTTP, and requests that are cut, do no harm",
  ],
  "src/ports/voice/simulated.ts: Readable.from": ["Bytes in memory, which the storage of the recording reads."],
  "src/jobs/kit/agenda-store.ts: new Pool": [
    "The pool replaces the connection.",
    "test/http/health.test.ts",
    "recovers when the database ends every connection",
  ],
  "src/jobs/kit/agenda-store.ts: new PostgresBackend": ["Uses the pool above, and no LISTEN."],
  "src/jobs/kit/agenda-store.ts: new MongoClient": ["Asks once at the start, which fails."],
  "src/jobs/kit/agenda-store.ts: new MongoBackend": ["Its commands fail, which Agenda emits; the driver connects again."],
  "src/jobs/kit/scheduler.ts: new Agenda": [
    "A line is logged; the next sweep repeats the work.",
    "test/system/database-away.test.ts",
    "a database that resets every connection",
  ],
  "src/start.ts: process.stdout.write": ["The line is lost.", here, "standard output and the log on a full disk"],
  "src/start.ts: process.stderr.write": ["The process is ending."],
  "src/node-version.ts: process.stderr.write": ["The process is ending."],
  "src/media/upload.ts: .createReadStream": [
    "The iteration throws, and the upload is refused.",
    "test/media/media.test.ts",
    "that its sender aborts leaves nothing",
  ],
  "src/media/upload.ts: .createWriteStream": ["The pipeline rejects, and the temporary file is removed."],
  "src/observability/log.ts: pino.destination": ["Lines are lost.", here, "standard output and the log on a full disk"],
  "src/observability/log.ts: pino": ["Writes to the destination above."],
  "src/observability/tracing.ts: new OTLPTraceExporter": ["The library drops the spans."],
  "src/ports/kit/guarded-http-client.ts: buildConnector": [
    "It listens to its sockets until they are open.",
    "test/ports/guarded-http-client.test.ts",
    "ends at its timeout, and when it is aborted, also during the look-up",
  ],
  "src/ports/kit/guarded-http-client.ts: new HttpClient": [
    "The request fails.",
    "test/ports/guarded-http-client.test.ts",
    "is not sent again when its connection is cut",
  ],
  "src/ports/kit/task-processes.ts: fork": [
    "Its task is refused; the next one gets a new process.",
    "test/system/task-processes.test.ts",
    "whose process is killed is lost, and the next one gets another",
  ],
  "src/ports/kit/task-program.ts: new Worker": ["The process ends, see fork."],
  "src/ports/storage/disk.ts: .createReadStream": ["The response is cut, a line is logged.", here, "a file that cannot be read"],
  "src/ports/storage/s3.ts: createReadStream": [
    "The request fails, and so does the upload.",
    here,
    "a file that cannot be sent to a bucket",
  ],
  "src/ports/storage/s3.ts: new Agent": ["The request fails, and so does the upload.", here, "a file that cannot be sent to a bucket"],
  "src/ports/storage/s3.ts: request": ["The request fails, and so does the upload.", here, "a file that cannot be sent to a bucket"],
  "src/rest/kit/serve.ts: Readable.from": [
    "A line is logged, and the response is cut.",
    here,
    "a response whose rows cannot be read to the end is cut",
  ],
}
