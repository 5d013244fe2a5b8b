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

  /** GraphQL operations of all transports, REST included, by root field and outcome ("OK" or the error code). */
  readonly operations = this.histogram("platform_operation_duration_seconds", "Duration of operations.", [
    "transport",
    "kind",
    "field",
    "outcome",
  ])

  /** HTTP requests by matched route and status. */
  readonly requests = this.histogram("platform_http_request_duration_seconds", "Duration of HTTP requests.", ["method", "route", "status"])

  /** Ended assistant turns by outcome. */
  readonly turns = new Counter({
    name: "platform_turns_total",
    help: "Ended assistant turns.",
    labelNames: ["outcome"],
    registers: [this.registry],
  })

  /** Time from when durable work was due until it was claimed, by kind. */
  readonly workWait = this.histogram("platform_work_wait_seconds", "Time from the due time of durable work to its start.", ["kind"])

  /** Calls of text models by model and outcome. */
  readonly modelCalls = this.histogram("platform_model_call_duration_seconds", "Duration of text model calls.", ["model", "outcome"])

  /** Tokens of text models by model and direction ("input" or "output"). */
  readonly modelTokens = new Counter({
    name: "platform_model_tokens_total",
    help: "Tokens used by text models.",
    labelNames: ["model", "direction"],
    registers: [this.registry],
  })

  /** What channels reported, by messenger and kind: message, edit, deletion, receipt … */
  readonly inbound = new Counter({
    name: "platform_channel_inbound_total",
    help: "Items received from channels.",
    labelNames: ["messenger", "kind"],
    registers: [this.registry],
  })

  /** Attempts of deliveries by messenger and outcome: sent, retried, or the code of the failure. */
  readonly deliveries = new Counter({
    name: "platform_channel_deliveries_total",
    help: "Deliveries to channels.",
    labelNames: ["messenger", "outcome"],
    registers: [this.registry],
  })

  /** Time from when a message was queued until its channel accepted it. */
  readonly deliverySeconds = this.histogram("platform_channel_delivery_seconds", "Time until a channel accepted a message.", ["messenger"])

  /** Attempts to deliver an event to an endpoint, by outcome: succeeded, retried, or failed when no other follows. */
  readonly eventDeliveries = new Counter({
    name: "platform_event_deliveries_total",
    help: "Attempts to deliver events to endpoints.",
    labelNames: ["outcome"],
    registers: [this.registry],
  })

  /** Ended calls by provider, status and reason. */
  readonly calls = new Counter({
    name: "platform_calls_total",
    help: "Ended calls.",
    labelNames: ["provider", "status", "reason"],
    registers: [this.registry],
  })

  /** Time from the acceptance of a call until it got a line. */
  readonly callWait = this.histogram("platform_call_wait_seconds", "Time from the acceptance of a call until it got a line.", [])

  /** Requests to voice providers, by operation and outcome. */
  readonly voiceRequests = this.histogram("platform_voice_request_duration_seconds", "Duration of requests to voice providers.", [
    "provider",
    "operation",
    "outcome",
  ])

  /** Events to which the sequencer of this instance assigned positions. */
  readonly eventsPlaced = new Counter({
    name: "platform_events_placed_total",
    help: "Events to which this instance assigned a position in the log.",
    registers: [this.registry],
  })

  /** Ends of stretches whose events the sequencer of this instance placed. */
  readonly outcomes = new Counter({
    name: "platform_outcomes_total",
    help: "Stretches of chats that ended, by outcome, counted by the instance that placed their event in the log.",
    labelNames: ["outcome"],
    registers: [this.registry],
  })

  /** Guardrail hits whose events the sequencer of this instance placed. */
  readonly guardrailHits = new Counter({
    name: "platform_guardrail_hits_total",
    help: "Texts that guardrails hit, by rule, direction and action, counted by the instance that placed their event in the log.",
    labelNames: ["rule", "direction", "action"],
    registers: [this.registry],
  })

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

  private histogram<L extends string>(name: string, help: string, labelNames: L[]) {
    return new Histogram({ name, help, labelNames, buckets: seconds, registers: [this.registry] })
  }
}
