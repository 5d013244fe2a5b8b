import type { OperationObserver } from "../graphql/engine.js"
import type { Metrics } from "../observability/metrics.js"
import { isTracing, traced } from "../observability/tracing.js"

/** Measures every operation of every transport, and gives it a span when tracing is on. */
export function operationObserver(metrics: Metrics): OperationObserver {
  return {
    around(operation, run) {
      if (!isTracing()) return run()
      const { transport, kind, field } = operation
      return traced(`${kind} ${field}`, { "graphql.operation.type": kind, "platform.transport": transport }, run)
    },
    ended: (operation, outcome, milliseconds) => metrics.operationEnded(operation, outcome, milliseconds),
  }
}
