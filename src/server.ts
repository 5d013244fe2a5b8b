import { join } from "node:path"
import type { Logger } from "pino"
import type { Demo } from "./admin/demo.js"
import { configurationOf, demoFacts } from "./admin/welcome.js"
import { createApp, listen } from "./app.js"
import { ToolSchemas } from "./assistant/tool-schemas.js"
import { callGauges } from "./calls/gauges.js"
import { setQuietHours } from "./chats/stretch.js"
import { type Config, isLoopback, publicUrl } from "./config/config.js"
import { mediaFolder } from "./config/data-folder.js"
import { loadSecrets } from "./config/secrets.js"
import { startWarnings } from "./config/start-warnings.js"
import { FairTurns } from "./context/fair-turns.js"
import { rateLimits, redisForLimits } from "./context/rate-limit.js"
import { ReadBudget } from "./context/read-budget.js"
import type { Services } from "./context/services.js"
import { withMedia } from "./context/snapshot.js"
import { connect } from "./database/connect.js"
import { Heartbeat } from "./database/heartbeat.js"
import { migrate } from "./database/migrate.js"
import type { PlainRow } from "./database/read-model.js"
import { Replica } from "./database/replica.js"
import { FanOutReader } from "./event-webhooks/fan-out.js"
import { eventWebhookGauges } from "./event-webhooks/gauges.js"
import { EventHub } from "./events/hub.js"
import { AnswerProgress } from "./events/progress.js"
import { type Placed, startSequencer } from "./events/sequencer.js"
import { eventStream } from "./events/stream.js"
import { OpenSockets } from "./events/transports/open-sockets.js"
import { postgresWakeUp, redisWakeUp } from "./events/wake-up.js"
import { OperationEngine } from "./graphql/engine.js"
import { inRestWords, platformSchema } from "./graphql/schema.js"
import { readTrustedDocuments } from "./graphql/trusted-documents.js"
import { operationObserver } from "./http/operation-observer.js"
import { addUpChatCounts } from "./jobs/add-up-chat-counts.js"
import { askRatings } from "./jobs/ask-ratings.js"
import { autoResume } from "./jobs/auto-resume.js"
import { call } from "./jobs/call.js"
import { callLines } from "./jobs/call-lines.js"
import { callRecord } from "./jobs/call-record.js"
import { channelItem } from "./jobs/channel-item.js"
import { deliver } from "./jobs/deliver.js"
import { fetchMedia } from "./jobs/fetch-media.js"
import { forgetMediaJob } from "./jobs/forget-media.js"
import { groupQuestions } from "./jobs/group-questions.js"
import { indexKnowledge } from "./jobs/index-knowledge.js"
import { keepOutcomes } from "./jobs/keep-outcomes.js"
import { Running } from "./jobs/kit/running.js"
import { makeScheduler } from "./jobs/kit/scheduler.js"
import { addWorkGauges } from "./jobs/kit/work-gauges.js"
import { lostToolCalls } from "./jobs/lost-tool-calls.js"
import { pollChannelWork } from "./jobs/poll-channel.js"
import { quietChats } from "./jobs/quiet-chats.js"
import { quietStretches } from "./jobs/quiet-stretches.js"
import { rebuildStretches } from "./jobs/rebuild-stretches.js"
import { refreshMcpServer } from "./jobs/refresh-mcp-server.js"
import { reply } from "./jobs/reply.js"
import { retention } from "./jobs/retention.js"
import { sendEvents } from "./jobs/send-events.js"
import { strayFiles } from "./jobs/stray-files.js"
import { voiceAgent } from "./jobs/voice-agent.js"
import { renewForEmbedding } from "./knowledge/indexing.js"
import { vectorSearch } from "./knowledge/vectors.js"
import { MediaUrls } from "./media/signed-url.js"
import { append } from "./messages/append.js"
import { Metrics } from "./observability/metrics.js"
import { observedModel } from "./observability/observed-model.js"
import { addProcessGauges, addReplicaGauge, addServiceGauge } from "./observability/process-gauges.js"
import { startTracing } from "./observability/tracing.js"
import { inboxOperations } from "./pages/assets.js"
import { widgetOperations } from "./pages/browser/widget/operations.js"
import { channels, crawler, embedding, extractor, mcp, storage, textModels, voiceProviders } from "./ports/index.js"
import { GuardedHttpClient } from "./ports/kit/guarded-http-client.js"
import { eventSelections } from "./rest/kit/event-selections.js"
import { representer, snapshotOf } from "./rest/kit/representation.js"

/** A running server. */
export interface RunningServer {
  services: Services
  port: number
  /** Shows a demo company on the start page. */
  showDemo(demo: Demo): void
  /** Stops in the reverse order of the start; running turns are released to other instances. */
  stop(): Promise<void>
}

/** Starts all parts on a database: migrations, ports, job scheduler, HTTP. A failure stops the parts that have started. */
export async function startServer(config: Config, databaseUrl: string, log: Logger): Promise<RunningServer> {
  await using stack = new AsyncDisposableStack()
  for (const line of startWarnings(config)) log.warn(line)
  // Each upload is written there first, with S3 too.
  const media = mediaFolder(config.dataDir)
  if (config.otlpEndpoint) stack.defer(await startTracing(config.otlpEndpoint))
  const metrics = new Metrics(log)
  const database = await connect(databaseUrl, (line) => log.debug({ from: "database" }, line))
  stack.defer(() => database.close())
  await migrate(database)
  const replica = config.databaseReplicaUrl ? await Replica.open(config.databaseReplicaUrl, database, log) : undefined
  stack.defer(() => replica?.close())
  await setQuietHours(database, config.stretchQuietHours)

  const schema = platformSchema(database.orm)
  const restSchema = inRestWords(schema)
  const hidesSchema = !config.graphqlIntrospection
  const ofPages = () => [...widgetOperations, ...(config.pages ? inboxOperations() : [])]
  const trusted = config.trustedDocuments ? await readTrustedDocuments(config.trustedDocuments, schema, hidesSchema, ofPages()) : null
  if (trusted) log.info({ documents: trusted.size }, "clients can run only the operations of the manifest (TRUSTED_DOCUMENTS)")
  const engine = new OperationEngine(operationObserver(metrics), hidesSchema, trusted)
  const secrets = await loadSecrets(config)
  let address = publicUrl(config)
  const mediaUrls = new MediaUrls(secrets, () => address)
  const withUrls = (row: PlainRow) => withMedia(row, (id) => mediaUrls.of(id))
  const represent = representer(engine, restSchema, withUrls)
  const heartbeat = new Heartbeat(database, log)
  const wakeUp = config.redisUrl ? await redisWakeUp(config.redisUrl, log) : postgresWakeUp(heartbeat, database.pool, log)
  stack.defer(() => wakeUp.close())
  const redis = config.redisUrl ? await redisForLimits(config.redisUrl, log) : null
  stack.defer(() => redis?.disconnect())
  await heartbeat.start()
  stack.defer(() => heartbeat.stop())
  const countPlaced = ({ count, outcomes, hits }: Placed) => {
    metrics.eventsPlaced.inc(count)
    for (const outcome of outcomes) metrics.outcomes.inc({ outcome })
    for (const { rule, direction, action } of hits) metrics.guardrailHits.inc({ rule, direction, action })
  }
  const sequencer = startSequencer(database, wakeUp, log, countPlaced, replica !== undefined)
  stack.defer(() => sequencer.stop())
  const hub = new EventHub(database, wakeUp, represent, log)
  stack.defer(() => hub.close())
  const progress = new AnswerProgress(wakeUp, log)
  stack.defer(() => progress.close())
  const documents = extractor()
  stack.defer(() => documents.close())
  const toolSchemas = new ToolSchemas(log)
  stack.defer(() => toolSchemas.close())
  const work = [
    reply,
    voiceAgent,
    indexKnowledge,
    deliver,
    fetchMedia,
    channelItem,
    pollChannelWork,
    sendEvents,
    refreshMcpServer,
    call,
    callRecord,
  ]
  const sweeps = [
    ...work.map((each) => each.sweep),
    quietChats,
    quietStretches,
    groupQuestions,
    askRatings,
    rebuildStretches,
    addUpChatCounts,
    keepOutcomes,
    callLines,
    lostToolCalls,
    retention,
    strayFiles,
  ]
  const scheduler = await makeScheduler(config, database, log, { work, stored: [autoResume, forgetMediaJob], sweeps })
  const httpClient = new GuardedHttpClient(config.allowPrivateNetwork)
  stack.defer(() => httpClient.close())
  const messengers = channels(config, httpClient, log)
  stack.defer(() => messengers.close())
  const vendorHttpClient = new GuardedHttpClient(true)
  stack.defer(() => vendorHttpClient.close())
  const running = new Running(log)
  stack.defer(() => scheduler.stop())
  stack.defer(() => running.idle())
  const stopping = new AbortController()
  const services: Services = {
    config,
    log,
    database,
    ...(replica && { replica }),
    wakeUp,
    sequencer,
    scheduler,
    running,
    snapshotOf,
    append,
    represent,
    eventSelections: eventSelections(engine, schema, withUrls),
    progress,
    stopping: stopping.signal,
    secrets,
    mediaUrls,
    httpClient,
    vendorHttpClient,
    channels: messengers,
    crawler: crawler(httpClient),
    mcp: mcp(httpClient),
    extractor: documents,
    storage: await storage(config),
    arrivals: join(media, "tmp"),
    metrics,
    models: (await textModels(config)).map((model) => observedModel(model, metrics)),
    voices: await voiceProviders(config),
    embedding: await embedding(config),
    toolSchemas,
    vectors: await vectorSearch(database, log),
    limits: rateLimits(config, database, redis),
    turns: new FairTurns(),
    reads: new ReadBudget(),
    endOfEventLog: () => hub.end(),
    eventStream: (options) => eventStream(database, hub, represent, options),
  }
  await renewForEmbedding(services)
  await scheduler.start(services)
  const fanOut = new FanOutReader(database, wakeUp, scheduler, log)
  stack.defer(() => fanOut.stop())
  const sockets = new OpenSockets(database, wakeUp, log)
  stack.defer(() => sockets.close())
  if (replica) addReplicaGauge(metrics, replica)
  const servicesInUse = new Map([["database", async () => heartbeat.isAnswered]])
  if (redis) servicesInUse.set("redis", () => redis.ping().then(() => true))
  if (config.mongodbUrl) servicesInUse.set("mongodb", () => scheduler.ping().then(() => true))
  addServiceGauge(metrics, servicesInUse)
  addProcessGauges(
    metrics,
    database.pool,
    () => sockets.size,
    () => services.turns.waiting,
  )
  addWorkGauges(services, work)
  eventWebhookGauges(services)
  callGauges(services)
  let demo: Demo | null = null
  const startPage = () => ({ configuration: configurationOf(services), demo: demo && demoFacts(address, demo) })
  const isForThisMachine = isLoopback(config.host) && isLoopback(new URL(publicUrl(config, config.port)).hostname)
  const demoAccess = () => (isForThisMachine ? demo : null)
  const app = await createApp(services, engine, schema, restSchema, sockets, startPage, demoAccess)
  stack.defer(() => app.close())
  stack.defer(() => stopping.abort())
  // Stopped first: this process ignores wake-ups from now on, so other instances must get them.
  stack.defer(() => scheduler.pause())
  const port = await listen(app.http, config.port, config.host)
  address = publicUrl(config, port)
  const started = stack.move()
  return {
    services,
    port,
    showDemo(company) {
      demo = company
    },
    stop: () => started.disposeAsync(),
  }
}
