import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"

const waiting: Statement<{ count: number }> = {
  name: "waiting-event-deliveries",
  text: "select count(*)::integer as count from event_delivery where due_at is not null",
}

/** Adds the gauge of deliveries that wait for an attempt, over all companies. */
export const waitingDeliveries = ({ metrics, database }: Pick<Services, "metrics" | "database">) =>
  metrics.gauge("platform_event_deliveries_waiting", "Deliveries of events that wait for an attempt.", async () => {
    const [row] = await unscoped(database, waiting)
    return row!.count
  })
