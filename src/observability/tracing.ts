import type { IncomingHttpHeaders } from "node:http"
import {
  context,
  type Context as OtelContext,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api"
import { Client } from "pg"

let tracer: Tracer | null = null

/** Whether spans are exported. */
export const isTracing = () => tracer !== null

/** Exports spans over OTLP/HTTP to `endpoint` until the returned function is called. When tracing is off, it costs a null check. */
export async function startTracing(endpoint: string): Promise<() => Promise<void>> {
  // Imported only when tracing is configured.
  const [sdk, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }, { resourceFromAttributes }] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/context-async-hooks"),
      import("@opentelemetry/core"),
      import("@opentelemetry/resources"),
    ])
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": "assistant-messaging-platform" }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  tracer = provider.getTracer("platform")
  const restore = traceQueries()
  return async () => {
    tracer = null
    restore()
    context.disable()
    propagation.disable()
    await provider.shutdown()
  }
}

/** Runs `work` in a span that is a child of the current one; it records a thrown error and ends with the work. */
export function traced<T>(name: string, attributes: Record<string, string>, work: () => T, parent?: OtelContext): T {
  if (!tracer) return work()
  return tracer.startActiveSpan(name, { attributes }, parent ?? context.active(), (span) => endedBy(span, work))
}

/** Runs `work` in the span of an HTTP request, which continues the trace of the `traceparent` header. */
export function tracedRequest<T>(headers: IncomingHttpHeaders, method: string, work: () => T): T {
  if (!tracer) return work()
  const parent = propagation.extract(context.active(), headers)
  return tracer.startActiveSpan(method, { kind: SpanKind.SERVER, attributes: { "http.request.method": method } }, parent, (span) =>
    endedBy(span, work),
  )
}

function endedBy<T>(span: Span, work: () => T): T {
  const fail = (error: unknown): never => {
    // Only the class, because error messages may contain customers' data.
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : "error" })
    span.end()
    throw error
  }
  try {
    const result = work()
    if (result instanceof Promise) {
      const end = (value: unknown) => {
        span.end()
        return value
      }
      return result.then(end, fail) as T
    }
    span.end()
    return result
  } catch (error) {
    return fail(error)
  }
}

/** Names the current span and adds attributes, which must not contain customers' data. */
export function describeSpan(name: string, attributes: Record<string, string | number> = {}) {
  if (!tracer) return
  trace.getActiveSpan()?.updateName(name).setAttributes(attributes)
}

type Query = (this: Client, ...args: unknown[]) => unknown

/** Creates a span for each pg statement while another span is active; returns a function that undoes it. */
function traceQueries(): () => void {
  const prototype = Client.prototype as unknown as { query: Query }
  const { query } = prototype
  prototype.query = function (...args) {
    if (!tracer || !trace.getActiveSpan()) return query.apply(this, args)
    const [statement] = args as [string | { text?: string; name?: string }]
    const { name, attributes } = statementOf(statement)
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes })
    const last = args.length - 1
    if (typeof args[last] === "function") {
      const callback = args[last] as (error: Error | null, ...more: unknown[]) => void
      args[last] = (error: Error | null, ...more: unknown[]) => {
        endStatement(span, error)
        callback(error, ...more)
      }
      return query.apply(this, args)
    }
    const result = query.apply(this, args)
    if (result instanceof Promise)
      result.then(
        () => endStatement(span, null),
        (error: Error) => endStatement(span, error),
      )
    else span.end()
    return result
  }
  return () => {
    prototype.query = query
  }
}

function endStatement(span: Span, error: Error | null) {
  if (error) span.setStatus({ code: SpanStatusCode.ERROR, message: (error as { code?: string }).code ?? error.name })
  span.end()
}

const verbAndTable = /^\s*(?:with\b[\s\S]*?\)\s*)?(\w+)(?:[\s\S]*?\b(?:from|into|update|join)\s+"?(\w+)"?)?/i

/** Name and attributes of a statement's span; never its text, because MikroORM writes values into it. */
function statementOf(statement: string | { text?: string; name?: string } | undefined) {
  const text = typeof statement === "string" ? statement : (statement?.text ?? "")
  const named = typeof statement === "string" ? undefined : statement?.name
  const [, verb = "query", table] = verbAndTable.exec(text) ?? []
  const operation = verb.toUpperCase()
  const attributes: Record<string, string> = { "db.system.name": "postgresql", "db.operation.name": operation }
  if (table) attributes["db.collection.name"] = table
  if (named) attributes["db.operation.prepared_name"] = named
  return { name: [operation, table].filter(Boolean).join(" "), attributes }
}
