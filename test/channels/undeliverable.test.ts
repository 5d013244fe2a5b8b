import { BridgeVendor } from "../../simulate/vendors/bridge.js"
import { administration } from "../kit/command-line.js"
import { samples, upload } from "../kit/files.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, sql } = w
const { done } = administration(w)
const vendor = new BridgeVendor({ pauseMs: () => 1 })

beforeAll(() => vendor.listen())
afterAll(() => vendor.close())

const connect = (account: string, company = acme) =>
  done("channel:connect", {
    company: company.id,
    messenger: "custom-messenger",
    "external-id": account,
    name: account,
    credentials: JSON.stringify({ deliveryUrl: vendor.deliveryUrl, secret: vendor.secret }),
  }) as Promise<{ id: string }>
const disconnect = ({ id }: { id: string }) => done("channel:disconnect", { id })

const chatOf = (account: string, externalId: string | null = account) =>
  acme.chat({ messenger: "custom-messenger", fromId: account, externalId })
const message = async (id: string) => (await rest.as(acme.token).get(`/api/messages/${id}`).expect(200)).body
const ended = (id: string) => until("the delivery has ended", async () => ((await message(id)).status === "queued" ? null : message(id)))
const retry = (id: string) => w.gql(acme.token, "mutation ($id: UUID!) { retryMessage(id: $id) { status } }", { id })

/** The types of a message's events, in order. */
const eventsOf = (id: string) =>
  sql("select type from event where payload -> 'message' ->> 'id' = $1 order by created_at, id", [id]).then((rows) =>
    rows.map(({ type }) => type),
  )

describe("a message to a messenger without a connection", () => {
  it("is failed in the statement that stores it, with one event and without a delivery", async () => {
    const chat = await chatOf("nowhere")
    const stored = await acme.message({ chatId: chat.id, text: "Hello?" })
    expect(stored).toMatchObject({ status: "failed", deliveryError: expect.stringContaining("no active connection to custom-messenger") })
    const { data } = await w.gql(acme.token, "query ($id: UUID!) { message(id: $id) { deliveryErrorCode } }", { id: stored.id })
    const [{ delivery_due_at: due }] = await sql("select delivery_due_at from chat where id = $1", [chat.id])
    expect([data.message.deliveryErrorCode, due, await eventsOf(stored.id)]).toEqual(["NOT_CONNECTED", null, ["MESSAGE_CREATED"]])
    const [event] = await sql("select payload -> 'message' ->> 'status' as status from event where payload -> 'message' ->> 'id' = $1", [
      stored.id,
    ])
    expect(event.status).toBe("failed")
  })

  it("says the same when its delivery fails, and is delivered on request once there is a connection", async () => {
    const chat = await chatOf("later")
    const first = await acme.message({ chatId: chat.id, text: "First" })
    expect((await retry(first.id)).data.retryMessage.status).toBe("QUEUED")
    expect(await ended(first.id)).toMatchObject({ status: "failed", deliveryError: first.deliveryError })
    await connect("later")
    await retry(first.id)
    expect(await ended(first.id)).toMatchObject({ status: "sent", deliveryError: null })
    const second = await acme.message({ chatId: chat.id, text: "Second" })
    expect([second.status, (await ended(second.id)).status]).toEqual(["queued", "sent"])
  })

  it("is failed also with a file", async () => {
    const chat = await chatOf("with-a-file")
    const { body: media } = await upload(w, acme.token, samples.png, "dot.png").expect(201)
    const stored = await acme.message({ chatId: chat.id, mediaIds: [media.id] })
    expect([stored.status, stored.mediaIds, await eventsOf(stored.id)]).toEqual(["failed", [media.id], ["MESSAGE_CREATED"]])
  })

  it("of a chat without an ID of its customer says so", async () => {
    const connection = await connect("no-customer")
    const chat = await chatOf("no-customer", null)
    const { id, status, deliveryError } = await acme.message({ chatId: chat.id, text: "To whom?" })
    expect([status, deliveryError]).toEqual(["failed", "The chat has no ID of a customer"])
    await retry(id)
    expect(await ended(id)).toMatchObject({ status: "failed", deliveryError })
    await disconnect(connection)
    expect((await acme.message({ chatId: chat.id, text: "And now?" })).deliveryError).toMatch(/no active connection/)
  })

  it("is failed though another company has one with the same account", async () => {
    await connect("shared", globex)
    const chat = await chatOf("shared")
    expect(await acme.message({ chatId: chat.id, text: "Hello?" })).toMatchObject({ status: "failed" })
  })

  it("is failed after a disconnection", async () => {
    const connection = await connect("left")
    const chat = await chatOf("left")
    await ended((await acme.message({ chatId: chat.id, text: "Connected" })).id)
    await disconnect(connection)
    expect(await acme.message({ chatId: chat.id, text: "Disconnected" })).toMatchObject({ status: "failed" })
  })
})

describe("a message that is stored while its messenger", () => {
  /** Sends messages to two chats of the account, each one after the other, until `work` has ended; returns their IDs. */
  async function during(account: string, work: () => Promise<unknown>) {
    const chats = await Promise.all([chatOf(account, "Ann"), chatOf(account, "Bo")])
    let isOver = false
    const sending = chats.map(async ({ id: chatId }) => {
      const ids: string[] = []
      while (!isOver) ids.push((await acme.message({ chatId, text: `Message ${ids.length + 1}` })).id)
      return ids
    })
    await work().finally(() => (isOver = true))
    return (await Promise.all(sending)).flat()
  }
  const withStatus = async (ids: string[], status: string): Promise<string[]> =>
    (await sql("select id from message where id = any($1::uuid[]) and status = $2 order by id", [ids, status])).map(({ id }) => id)
  const allEnded = (ids: string[]) => until("all deliveries have ended", async () => (await withStatus(ids, "queued")).length === 0)

  it("is connected and disconnected again and again is sent or failed, and none waits or is lost", async () => {
    const connection = await connect("restless")
    const ids = await during("restless", async () => {
      for (let round = 0; round < 3; round++) {
        await disconnect(connection)
        await connect("restless")
      }
    })
    await allEnded(ids)
    const [sent, failed] = [await withStatus(ids, "sent"), await withStatus(ids, "failed")]
    expect(sent.length + failed.length).toBe(ids.length)
    const delivered = () => vendor.delivered.map(({ messageId }) => messageId).filter((id) => ids.includes(id))
    expect(delivered().sort()).toEqual(sent)
    for (const id of failed) await retry(id)
    await allEnded(ids)
    expect(delivered().sort()).toEqual(ids.sort())
  })

  it("is disconnected, after it was queued, is failed by its delivery", async () => {
    const connection = await connect("ends")
    const chat = await chatOf("ends")
    vendor.faults.next({ fault: "500", on: "/deliver" })
    const { id, status } = await acme.message({ chatId: chat.id, text: "Just in time" })
    expect(status).toBe("queued")
    await until(
      "the first attempt has failed",
      async () => (await sql("select from channel_message where message_id = $1 and failures = 1", [id])).length > 0,
    )
    await disconnect(connection)
    w.clock.advance(10_000)
    await w.runDue()
    expect(await ended(id)).toMatchObject({ status: "failed", deliveryError: expect.stringContaining("no active connection") })
  })
})
