import { Webhook } from "standardwebhooks"
import { sendEvents } from "../../src/jobs/send-events.js"
import { type Received, type Receiver, receiver } from "./receiver.js"
import { stillTime, stopScheduler } from "./turns.js"
import { until } from "./wait.js"
import { type World, world } from "./world.js"

/** An endpoint as REST shows it, with its secret. */
// biome-ignore lint/suspicious/noExplicitAny: as REST shows it.
export type Endpoint = any

/** Requests about event webhooks of Acme, on a server whose scheduler is stopped. */
export function eventWebhooks(w: World, owner = w.acme) {
  const { rest, sql, clock } = w
  const path = "/api/event-webhooks"
  return {
    path,
    /** Creates an endpoint for new messages. */
    create: async (to: Receiver | string, fields: object = {}): Promise<Endpoint> => {
      const url = typeof to === "string" ? to : to.url
      return (
        await rest
          .as(owner.token)
          .post(path, { url, types: ["MESSAGE_CREATED"], ...fields })
          .expect(201)
      ).body
    },
    look: async ({ id }: Endpoint): Promise<Endpoint> => (await rest.as(owner.token).get(`${path}/${id}`).expect(200)).body,
    change: async ({ id }: Endpoint, fields: object): Promise<Endpoint> =>
      (await rest.as(owner.token).patch(`${path}/${id}`, fields).expect(200)).body,
    /** Deliveries of an endpoint, oldest first. */
    // biome-ignore lint/suspicious/noExplicitAny: as REST shows them.
    deliveries: async ({ id }: Endpoint, query = ""): Promise<any[]> =>
      (await rest.as(owner.token).get(`${path}/${id}/deliveries?take=100${query}`).expect(200)).body.data.reverse(),
    /** Waits until all events have their deliveries. */
    async fannedOut() {
      await until("all events have their deliveries", async () => {
        const [row] = await sql(
          `select not exists (select from event where position is null) and f.position = l.last_position as done
           from event_fan_out f, event_log l`,
        )
        return row.done
      })
    },
    /** Waits until all events have their deliveries, and sends what is due by the clock of the test. */
    async send(on = w.services) {
      await this.fannedOut()
      await sendEvents.sweep.run(on)
      await on.running.idle()
    },
    /** The body of a request; throws unless the signature fits the secret, by the clock of the test. */
    // biome-ignore lint/suspicious/noExplicitAny: as it was sent.
    verified({ body, headers }: Received, secret: string): any {
      const now = Date.now
      // The library compares the timestamp with the time of the system.
      Date.now = () => clock.now().getTime()
      try {
        return new Webhook(secret).verify(body.toString("utf8"), headers as Record<string, string>)
      } finally {
        Date.now = now
      }
    },
  }
}

/** What the stories of event webhooks begin with: a server whose scheduler and clock stand still, and an endpoint that answers 200. */
export async function webhookStories() {
  const endpoint = await receiver()
  afterAll(() => endpoint.close())
  const w = world()
  const time = stillTime()
  beforeAll(() => stopScheduler(w))
  beforeEach(() => {
    endpoint.requests.length = 0
    endpoint.answer(200)
  })
  afterEach(() => w.sql("delete from event_webhook"))
  return { w, time, endpoint, hooks: eventWebhooks(w) }
}
