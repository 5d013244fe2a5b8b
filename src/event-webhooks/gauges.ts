import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"

const waiting: Statement<{ count: number }> = {
  name: "waiting-event-deliveries",
  text: "select count(*)::integer as count from event_delivery where due_at is not null",
}

const endpoints: Statement<Record<"working" | "failing" | "disabled", number>> = {
  name: "endpoints-by-state",
  text: `
    select count(*) filter (where not disabled and failing_since is null)::integer as working,
      count(*) filter (where not disabled and failing_since is not null)::integer as failing,
      count(*) filter (where disabled and disabled_reason is not null)::integer as disabled
    from event_webhook`,
}

/** Adds the gauges of deliveries that wait for an attempt, and of endpoints by state, over all companies. */
export function eventWebhookGauges({ metrics, database }: Pick<Services, "metrics" | "database">) {
  metrics.gauge("platform_event_deliveries_waiting", "Deliveries of events that wait for an attempt.", async () => {
    const [row] = await unscoped(database, waiting)
    return row!.count
  })
  metrics.gauge(
    "platform_event_webhooks",
    "Endpoints for events: whose last attempt succeeded (working), whose last attempt failed (failing), and that the server disabled.",
    async () => new Map(Object.entries((await unscoped(database, endpoints))[0]!)),
    "state",
  )
}
