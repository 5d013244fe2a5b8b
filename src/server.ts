import { join } from "node:path"
import pino, { type Logger } from "pino"
import { createApp, listen } from "./app.js"
import { type Config, publicUrl } from "./config.js"
import type { Services } from "./context/services.js"
import { SignInLimit } from "./context/sign-in-limit.js"
import { connect } from "./database/connect.js"
import { migrate } from "./database/migrate.js"
import { EventHub } from "./events/hub.js"
import { AnswerProgress } from "./events/progress.js"
import { startSequencer } from "./events/sequencer.js"
import { eventStream } from "./events/stream.js"
import { OpenSockets } from "./events/transports/open-sockets.js"
import { postgresWakeUp, redisWakeUp } from "./events/wake-up.js"
import { buildPlatformSchema, inRestWords } from "./graphql/schema.js"
import { autoResume } from "./jobs/auto-resume.js"
import { forgetMediaJob } from "./jobs/forget-media.js"
import { indexKnowledge } from "./jobs/index-knowledge.js"
import { indexSweep } from "./jobs/index-sweep.js"
import { Running } from "./jobs/kit/running.js"
import { makeScheduler } from "./jobs/kit/scheduler.js"
import { lostToolCalls } from "./jobs/lost-tool-calls.js"
import { quietChats } from "./jobs/quiet-chats.js"
import { reply } from "./jobs/reply.js"
import { retention } from "./jobs/retention.js"
import { strayFiles } from "./jobs/stray-files.js"
import { sweep } from "./jobs/sweep.js"
import { voiceAgent } from "./jobs/voice-agent.js"
import { voiceSweep } from "./jobs/voice-sweep.js"
import { renewForEmbedding } from "./knowledge/indexing.js"
import { vectorSearch } from "./knowledge/vectors.js"
import { MediaUrls } from "./media/signed-url.js"
import { crawler, embedding, extractor, storage, textModels, voiceProviders } from "./ports/index.js"
import { GuardedHttpClient } from "./ports/kit/guarded-http-client.js"
import { representer } from "./rest/resources.js"
import { loadSecrets } from "./secrets.js"

/** A running server. */
export interface RunningServer {
  services: Services
  port: number
  /** Stops in the reverse order of the start; running turns are given back to another instance. */
  stop(): Promise<void>
}

/** The log of the process: JSON lines on standard error, so that standard output stays for people. */
export const makeLog = (config: Config): Logger =>
  pino(
    { level: config.logLevel, redact: ["req.headers", "*.password", "*.token", "*.accessToken"] },
    pino.destination({ dest: 2, sync: false }),
  )

/** Starts everything on a database: schema, ports, clock, doors. What fails on the way stops what was started before. */
export async function startServer(config: Config, databaseUrl: string, log: Logger): Promise<RunningServer> {
  await using stack = new AsyncDisposableStack()
  const database = await connect(databaseUrl, (line) => log.debug({ from: "database" }, line))
  stack.defer(() => database.close())
  await migrate(database)

  const schema = buildPlatformSchema(database.orm)
  const restSchema = inRestWords(schema)
  const secrets = await loadSecrets(config)
  let address = publicUrl(config)
  const mediaUrls = new MediaUrls(secrets.jwtSecret, () => address)
  const represent = representer(restSchema, (id) => mediaUrls.of(id))
  const wakeUp = config.redisUrl ? await redisWakeUp(config.redisUrl, log) : await postgresWakeUp(databaseUrl, database.pool, log)
  stack.defer(() => wakeUp.close())
  const sequencer = startSequencer(database, wakeUp, log)
  stack.defer(() => sequencer.stop())
  const hub = new EventHub(database, wakeUp, represent, log)
  stack.defer(() => hub.close())
  const progress = new AnswerProgress(wakeUp, log)
  stack.defer(() => progress.close())
  const documents = extractor()
  stack.defer(() => documents.close())
  const scheduler = await makeScheduler(config, database, log)
  const httpClient = new GuardedHttpClient(config.allowPrivateNetwork)
  stack.defer(() => httpClient.close())
  const running = new Running(log)
  stack.defer(() => running.idle())
  stack.defer(() => scheduler.stop())
  const stopping = new AbortController()
  const services: Services = {
    config,
    log,
    database,
    wakeUp,
    sequencer,
    scheduler,
    running,
    represent,
    progress,
    stopping: stopping.signal,
    secrets,
    mediaUrls,
    httpClient,
    crawler: crawler(httpClient),
    extractor: documents,
    indexing: { busy: 0 },
    storage: await storage(config),
    arrivals: join(config.dataDir, "media", "tmp"),
    models: await textModels(config),
    voices: voiceProviders(),
    embedding: await embedding(config),
    vectors: await vectorSearch(database, log),
    signInLimit: new SignInLimit(database, config.signInAttemptsPerMinute),
    eventStream: (wish) => eventStream(database, hub, represent, wish),
  }
  await renewForEmbedding(services)
  const jobs = [reply, autoResume, forgetMediaJob, voiceAgent, indexKnowledge]
  const sweeps = [sweep, quietChats, lostToolCalls, indexSweep, retention, strayFiles, voiceSweep]
  await scheduler.start(services, jobs, sweeps)
  const sockets = new OpenSockets(database, wakeUp, log)
  stack.defer(() => sockets.close())
  const doors = await createApp(services, schema, restSchema, sockets)
  stack.defer(() => doors.close())
  stack.defer(() => stopping.abort())
  const port = await listen(doors.http, config.port, config.host)
  address = publicUrl(config, port)
  const started = stack.move()
  return { services, port, stop: () => started.disposeAsync() }
}
