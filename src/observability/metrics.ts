import type { Logger } from "pino"
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client"

/** Metrics of the process (CPU, memory, event loop, garbage collection), registered once for all servers in it. */
const processRegistry = new Registry()
collectDefaultMetrics({ register: processRegistry })

const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Reads a gauge at a scrape: one number, or one for each value of its label. */
export type Reading = () => number | Map<string, number> | Promise<number | Map<string, number>>

/** The Prometheus metrics of this process. Every label has a bounded set of values: schema fields, routes, codes, kinds of work, models. */
export class Metrics {
  private readonly registry = new Registry()

  // A histogram has seventeen lines for each combination of its labels. A client that provokes every error over every transport could make some
  // ten megabytes of them, so outcomes and transports are labels of counters.

  /** GraphQL operations of all transports, REST included, by root field and outcome ("OK" or the error code). */
  private readonly operations = this.counter("platform_operations_total", "Operations.", ["transport", "kind", "field", "outcome"])
  private readonly operationSeconds = this.histogram("platform_operation_duration_seconds", "Duration of operations.", ["kind", "field"])

  /** HTTP requests by matched route and status. */
  private readonly requests = this.counter("platform_http_requests_total", "HTTP requests.", ["method", "route", "status"])
  private readonly requestSeconds = this.histogram("platform_http_request_duration_seconds", "Duration of HTTP requests.", [
    "method",
    "route",
  ])

  /** Ended assistant turns by outcome. */
  readonly turns = this.counter("platform_turns_total", "Ended assistant turns.", ["outcome"])

  /** Time from when durable work was due until it was claimed, by kind. */
  readonly workWait = this.histogram("platform_work_wait_seconds", "Time from the due time of durable work to its start.", ["kind"])

  /** Calls of text models by model and outcome. */
  readonly modelCalls = this.histogram("platform_model_call_duration_seconds", "Duration of text model calls.", ["model", "outcome"])

  /** Tokens of text models by model and direction ("input" or "output"). */
  readonly modelTokens = this.counter("platform_model_tokens_total", "Tokens used by text models.", ["model", "direction"])

  /** What channels reported, by messenger and kind: message, edit, deletion, receipt … */
  readonly inbound = this.counter("platform_channel_inbound_total", "Items received from channels.", ["messenger", "kind"])

  /** Attempts of deliveries by messenger and outcome: sent, retried, or the code of the failure. */
  readonly deliveries = this.counter("platform_channel_deliveries_total", "Deliveries to channels.", ["messenger", "outcome"])

  /** Time from when a message was queued until its channel accepted it. */
  readonly deliverySeconds = this.histogram("platform_channel_delivery_seconds", "Time until a channel accepted a message.", ["messenger"])

  /** Attempts to deliver an event to an endpoint, by outcome: succeeded, retried, or failed when no other follows. */
  readonly eventDeliveries = this.counter("platform_event_deliveries_total", "Attempts to deliver events to endpoints.", ["outcome"])

  /** Ended calls by provider, status and reason. */
  readonly calls = this.counter("platform_calls_total", "Ended calls.", ["provider", "status", "reason"])

  /** Time from the acceptance of a call until it got a line. */
  readonly callWait = this.histogram("platform_call_wait_seconds", "Time from the acceptance of a call until it got a line.", [])

  /** Requests to voice providers, by operation and outcome. */
  readonly voiceRequests = this.histogram("platform_voice_request_duration_seconds", "Duration of requests to voice providers.", [
    "provider",
    "operation",
    "outcome",
  ])

  /** Events to which the sequencer of this instance assigned positions. */
  readonly eventsPlaced = this.counter("platform_events_placed_total", "Events to which this instance assigned a position in the log.", [])

  /** Ends of stretches whose events the sequencer of this instance placed. */
  readonly outcomes = this.counter(
    "platform_outcomes_total",
    "Stretches of chats that ended, by outcome, counted by the instance that placed their event in the log.",
    ["outcome"],
  )

  /** Guardrail hits whose events the sequencer of this instance placed. */
  readonly guardrailHits = this.counter(
    "platform_guardrail_hits_total",
    "Texts that guardrails hit, by rule, direction and action, counted by the instance that placed their event in the log.",
    ["rule", "direction", "action"],
  )

  /** Sockets that were closed because their clients read too slowly, by transport: graphql-ws, socket.io. */
  readonly socketsCut = this.counter("platform_sockets_cut_total", "Sockets closed because their clients read too slowly.", ["transport"])

  constructor(private readonly log: Logger) {}

  /** All metrics in Prometheus's text format. */
  text(): Promise<string> {
    return Registry.merge([processRegistry, this.registry]).metrics()
  }

  /** Adds a gauge whose value is read at each scrape; a failed reading is logged, leaves the gauge out and does not fail the scrape. */
  gauge(name: string, help: string, read: Reading, label?: string) {
    const { log } = this
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: label ? [label] : [],
      registers: [this.registry],
      async collect() {
        gauge.reset()
        // Without a label that is 0, which would be a value.
        if (!label) gauge.remove()
        try {
          const value = await read()
          if (typeof value === "number") gauge.set(value)
          else for (const [each, number] of value) gauge.set({ [label!]: each }, number)
        } catch (error) {
          log.warn({ err: error, metric: name }, "a metric could not be read")
        }
      },
    })
  }

  /** Counts an operation that has ended. */
  operationEnded({ transport, kind, field }: { transport: string; kind: string; field: string }, outcome: string, milliseconds: number) {
    this.operations.inc({ transport, kind, field, outcome })
    this.operationSeconds.observe({ kind, field }, milliseconds / 1000)
  }

  /** Counts an HTTP request that was answered. */
  requestEnded(method: string, route: string, status: number, milliseconds: number) {
    this.requests.inc({ method, route, status })
    this.requestSeconds.observe({ method, route }, milliseconds / 1000)
  }

  private counter<L extends string>(name: string, help: string, labelNames: L[]) {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  private histogram<L extends string>(name: string, help: string, labelNames: L[]) {
    return new Histogram({ name, help, labelNames, buckets: seconds, registers: [this.registry] })
  }
}
