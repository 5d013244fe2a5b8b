import { BridgeVendor } from "../../simulate/vendors/bridge.js"
import { channelLimits } from "../../src/channels/limits.js"
import { deliver } from "../../src/jobs/deliver.js"
import { administration } from "../kit/command-line.js"
import { samples } from "../kit/files.js"
import { promise, promised } from "../kit/promise.js"
import { openTransaction } from "../kit/transaction.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world({ REPLY_DEBOUNCE_MS: "20", REPLY_MAX_WAIT_MS: "50" })
const { acme, globex, rest, gql, sql } = w
const { done } = administration(w)
const vendor = new BridgeVendor({ pauseMs: () => 5 })
/** Without an assistant, so that only people answer; and with one. */
let connection: { id: string }
let assisted: { id: string }

beforeAll(async () => {
  await vendor.listen()
  const credentials = JSON.stringify({ deliveryUrl: vendor.deliveryUrl, secret: vendor.secret })
  const account = { company: acme.id, messenger: "custom-messenger", credentials }
  connection = await done("channel:connect", { ...account, "external-id": "desk", name: "Desk" })
  assisted = await done("channel:connect", { ...account, "external-id": "bot", name: "Bot", assistant: acme.assistant.id })
})
afterAll(() => vendor.close())

let customers = 0
/** A customer of their own for each test, who has written once. */
async function customer(text = "Hello") {
  const externalId = `customer-${++customers}`
  return { externalId, ...(await post({ messageId: `${externalId}-1`, chat: { externalId, name: "Ann" }, text })) }
}

/** Sends an event to the hook, signed, and returns the answer. */
async function post(event: object, status = 202, { id } = connection) {
  vendor.hook = `${w.url}/hooks/custom-messenger/${id}`
  const { status: got, response } = await vendor.hooks.post(JSON.stringify(event))
  expect([got, response]).toEqual([status, expect.any(String)])
  return JSON.parse(response)
}
const messages = async (chatId: string) =>
  (await rest.as(acme.token).get(`/api/messages?chatId=${chatId}&take=100`).expect(200)).body.data.reverse()
const message = async (id: string) => (await rest.as(acme.token).get(`/api/messages/${id}`).expect(200)).body
const reaches = (id: string, status: string) =>
  until(`message ${id} is ${status}`, async () => ((await message(id)).status === status ? message(id) : null))
/** Makes the connector fail at each attempt, until its faults are cleared. */
const fails = () => {
  for (let attempt = 0; attempt < 30; attempt++) vendor.faults.next({ fault: "500", on: "/deliver" })
}
/** Makes the connector's next answer to a delivery wait until the returned function is called. */
const holdAnswer = () => {
  let answer!: () => void
  vendor.faults.next({
    fault: "delay",
    on: "/deliver",
    until: new Promise<void>((resolve) => {
      answer = resolve
    }),
  })
  return answer
}
/** The requests with which a message was sent. */
const requestsOf = (id: string) => vendor.server.calls.filter(({ json }) => (json as { messageId?: string } | undefined)?.messageId === id)
const deliveredTo = (externalId: string) => vendor.delivered.filter(({ chat }) => chat.externalId === externalId).map(({ text }) => text)

describe("a message over the bridge", () => {
  it("is answered by the assistant, whose answer the connector receives", async () => {
    const answer = await post({ messageId: "q-1", chat: { externalId: "asks", name: "Bo" }, text: "When are you open?" }, 202, assisted)
    expect(answer).toEqual({ chatId: expect.any(String), messageId: expect.any(String) })
    const [told] = await until("the connector has the answer", () => (deliveredTo("asks").length > 0 ? deliveredTo("asks") : null))
    expect(told).toContain("9:00")
    expect(vendor.delivered.at(-1)!.chat).toEqual({ externalId: "asks", fromId: "bot" })
  })

  promised("that is repeated is stored once, in whichever chat it says", async () => {
    const first = await post({ messageId: "twice", chat: { externalId: "repeats" }, text: "Once" })
    expect(await post({ messageId: "twice", chat: { externalId: "repeats" }, text: "Once" })).toEqual(first)
    expect(await post({ messageId: "twice", chat: { externalId: "someone-else" }, text: "Once" })).toEqual(first)
    expect(await sql("select 1 from message where text = 'Once'")).toHaveLength(1)
  })

  promised("begins one chat also when ten first messages arrive at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => post({ messageId: `burst-${at}`, chat: { externalId: "in-a-hurry" }, text: `Message ${at}` })),
    )
    expect(new Set(answers.map(({ chatId }) => chatId)).size).toBe(1)
    expect(await messages(answers[0].chatId)).toEqual(
      expect.arrayContaining(Array.from({ length: 10 }, (_, at) => expect.objectContaining({ text: `Message ${at}` }))),
    )
  })

  it("is edited and deleted by the customer, without a turn, also when the edit comes before it", async () => {
    const { chatId, messageId, externalId } = await customer("Teh order")
    await post({ event: "edit", messageId: `${externalId}-1`, text: "The order" })
    expect(await message(messageId)).toMatchObject({ text: "The order", role: "Customer" })
    await post({ event: "delete", messageId: `${externalId}-1` })
    await post({ event: "edit", messageId: `${externalId}-1`, text: "Too late" })
    expect((await message(messageId)).text).toBe("[deleted by the customer]")
    await post({ event: "edit", messageId: `${externalId}-2`, text: "Edited before it came" })
    const late = await post({ messageId: `${externalId}-2`, chat: { externalId }, text: "As it was written" })
    expect((await message(late.messageId)).text).toBe("Edited before it came")
    expect(await messages(chatId)).toHaveLength(2)
  })

  it("quotes ours by our ID or by theirs, and ours quotes the customer's by theirs", async () => {
    const { chatId, messageId, externalId } = await customer()
    const ours = await acme.message({ chatId, text: "Which one?", replyToMessageId: messageId })
    await reaches(ours.id, "sent")
    const { externalId: theirs } = await message(ours.id)
    expect(vendor.delivered.at(-1)).toMatchObject({ text: "Which one?", replyToMessageId: `${externalId}-1` })
    for (const [at, replyToMessageId] of [ours.id, theirs].entries()) {
      const stored = await post({ messageId: `${externalId}-q${at}`, chat: { externalId }, text: "This one", replyToMessageId })
      expect((await message(stored.messageId)).replyToMessageId).toBe(ours.id)
    }
  })

  it("in a group has its sender, and no assistant", async () => {
    const { chatId, messageId } = await post({
      messageId: "g-1",
      chat: { externalId: "group", name: "Team", chatType: "group" },
      text: "Hi all",
    })
    expect((await rest.as(acme.token).get(`/api/chats/${chatId}`).expect(200)).body).toMatchObject({
      chatType: "group",
      assistantId: null,
      isUnderAiControl: false,
      name: "Team",
    })
    expect(await message(messageId)).toMatchObject({ sender: null })
  })

  it("is 400 with details when it lacks what it needs", async () => {
    const body = await post({ chat: { externalId: "x" }, text: "No ID" }, 400)
    expect(body).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "messageId" }] })
    expect(await post({ messageId: "empty", chat: { externalId: "x" } }, 400)).toMatchObject({ code: "BAD_USER_INPUT" })
  })

  promised("of one company's connection never reaches another company", async () => {
    const { chatId } = await customer()
    await rest.as(globex.token).get(`/api/chats/${chatId}`).expect(404)
  })
})

describe("a delivery", () => {
  it("is sent, then delivered and read as the connector reports, and never goes back", async () => {
    const { chatId } = await customer()
    const { id } = await acme.message({ chatId, text: "Your order is ready" })
    const { externalId } = await reaches(id, "sent")
    await post({ event: "receipt", externalId, status: "read" })
    await post({ event: "receipt", messageId: id, status: "delivered" })
    expect(await message(id)).toMatchObject({ status: "read", deliveredAt: expect.any(String) })
    await post({ event: "receipt", messageId: id, status: "failed", error: "Too late" })
    expect((await message(id)).status).toBe("read")
    const events = await sql(
      "select payload -> 'message' ->> 'status' as status from event where payload -> 'message' ->> 'id' = $1 order by id",
      [id],
    )
    expect(events.map(({ status }) => status)).toEqual(["queued", "sent", "read"])
  })

  it("keeps a receipt that comes before the connector's answer", async () => {
    const { chatId } = await customer()
    const answer = holdAnswer()
    const { id } = await acme.message({ chatId, text: "Early bird" })
    await until("the connector has the message", () =>
      vendor.server.calls.some(({ json }) => (json as { messageId?: string } | undefined)?.messageId === id),
    )
    await post({ event: "receipt", messageId: id, status: "delivered" })
    answer()
    await reaches(id, "delivered")
  })

  promised(
    "is repeated with the same ID after a connection that broke once the connector had taken it, so that it arrives once",
    async () => {
      const { chatId, externalId } = await customer()
      vendor.faults.next({ fault: "reset-after" })
      const { id } = await acme.message({ chatId, text: "Once only" })
      expect(await reaches(id, "sent")).toMatchObject({ deliveryError: null })
      promise("a repeated message reaches the customer once", () => expect(deliveredTo(externalId)).toEqual(["Once only"]))
      // Two, and further ones where another answer was lost on a slow machine.
      expect(requestsOf(id).length).toBeGreaterThanOrEqual(2)
    },
  )

  it("that the channel took and reported as failed is sent again on request", async () => {
    const { chatId, externalId: customerId } = await customer()
    const { id } = await acme.message({ chatId, text: "Bounced" })
    const { externalId } = await reaches(id, "sent")
    await post({ event: "receipt", externalId, status: "failed", error: "The mailbox is full" })
    expect(await message(id)).toMatchObject({ status: "failed", deliveryError: "The mailbox is full" })
    const before = requestsOf(id).length
    const { data } = await gql(acme.token, "mutation ($id: UUID!) { retryMessage(id: $id) { status externalId sentAt } }", { id })
    expect(data.retryMessage).toEqual({ status: "QUEUED", externalId: null, sentAt: null })
    await reaches(id, "sent")
    // A request is sent again under the same ID when its answer or its result was lost, as on a slow machine, so that their number promises
    // nothing. What is promised: the request made the server send it again, and the customer has it once.
    expect(requestsOf(id).length).toBeGreaterThan(before)
    promise("a message that is sent again reaches the customer once", () => expect(deliveredTo(customerId)).toEqual(["Bounced"]))
  })

  it("with a file that is still being fetched is refused", async () => {
    const { chatId, externalId } = await customer()
    vendor.faults.next({ fault: "hang", on: "/files" })
    const { messageId } = await post({
      ...{ messageId: `${externalId}-2`, chat: { externalId } },
      media: [vendor.upload(samples.png, "slow.png", "image/png")],
    })
    const { mediaIds, messageMedia } = await message(messageId)
    expect(messageMedia[0].media).toMatchObject({ status: "pending", url: null })
    const { body } = await rest.as(acme.token).post("/api/messages", { chatId, mediaIds }).expect(400)
    expect(body.details).toEqual([{ path: "mediaIds", message: "names a file whose content is not there" }])
    vendor.server.disconnect()
  })

  it("ends after a day of faults of this server, so that later messages leave", async () => {
    const { chatId } = await customer()
    const adapter = w.services.channels.adapter("custom-messenger")!
    const send = jest.spyOn(adapter, "send").mockRejectedValue(new Error("A bug"))
    const { id } = await acme.message({ chatId, text: "Never leaves" })
    await until("a delivery is tried", () => send.mock.calls.length > 0)
    w.clock.advance(channelLimits.deliveryExpiryMs + 1_000)
    await deliver.sweep.run(w.services)
    const failed = await until("the message has failed", async () => ((await message(id)).status === "failed" ? message(id) : null))
    send.mockRestore()
    w.clock.reset()
    expect(failed.deliveryError).toBe("The server could not send the message")
    const next = await acme.message({ chatId, text: "Leaves" })
    await reaches(next.id, "sent")
  })

  it("ends alike whether one statement stores its result or, after a failed attempt, a transaction", async () => {
    const results = []
    for (const isRepeated of [false, true]) {
      const { chatId } = await customer()
      if (isRepeated) vendor.faults.next({ fault: "500", on: "/deliver" })
      const { id } = await acme.message({ chatId, text: "The same" })
      await reaches(id, "sent")
      const [event] = await sql("select payload from event where chat_id = $1 and type = 'MESSAGE_UPDATED'", [chatId])
      const shown = w.services.represent("Message", event.payload.message) as Record<string, unknown>
      const [row] = await sql("select * from message where id = $1", [id])
      const [{ delivery_id, delivery_due_at }] = await sql("select delivery_id, delivery_due_at from chat where id = $1", [chatId])
      const [state] = await sql("select accepted, sending_since from channel_message where message_id = $1", [id])
      expect(state).toEqual({ accepted: [row.external_id], sending_since: null })
      expect([delivery_id, delivery_due_at]).toEqual([null, null])
      const alike = (each: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(each).map(([name, value]) => [name, /(Id|_id|At|_at|^id)$/.test(name) && value ? typeof value : value]),
        )
      results.push({ shown: alike(shown), row: alike(row) })
    }
    expect(results[1]).toEqual(results[0])
  })

  it("whose ID the connector gave another message too is sent, and keeps no ID", async () => {
    const { chatId } = await customer()
    const [first, second] = [await acme.message({ chatId, text: "One" }), await acme.message({ chatId, text: "Two" })]
    await reaches(second.id, "sent")
    const { externalId } = await message(second.id)
    await sql("update message set status = 'queued', external_id = null where id = $1", [second.id])
    await sql("update message set external_id = $2 where id = $1", [first.id, externalId])
    await sql("delete from channel_message where message_id = $1", [second.id])
    await sql("update chat set delivery_due_at = now() where id = $1", [chatId])
    await deliver.sweep.run(w.services)
    expect(await reaches(second.id, "sent")).toMatchObject({ externalId: null })
  })

  promised("that a sweep finds at the moment when it is due is sent once", async () => {
    const { chatId } = await customer()
    const first = await acme.message({ chatId, text: "First" })
    await reaches(first.id, "sent")
    const { id } = await acme.message({ chatId, text: "Twice found" })
    await reaches(id, "sent")
    // As before its delivery.
    await sql("delete from channel_message where message_id = $1", [id])
    await sql("update message set status = 'queued', external_id = null where id = $1", [id])
    await sql("update chat set delivery_due_at = now() where id = $1", [chatId])
    const before = requestsOf(id).length
    await Promise.all([1, 2, 3].map(() => deliver.run(w.services, acme.id, chatId, new Date())))
    await reaches(id, "sent")
    await w.services.running.idle()
    expect(requestsOf(id).length - before).toBe(1)
  })

  it("is not reported on by another connection of the company", async () => {
    const { chatId } = await customer()
    const { id } = await acme.message({ chatId, text: "Not yours" })
    await reaches(id, "sent")
    await post({ event: "receipt", messageId: id, status: "read" }, 202, assisted)
    expect((await message(id)).status).toBe("sent")
  })

  it("without a connection fails at once, with a reason", async () => {
    const chat = await acme.chat({ messenger: "olx", fromId: "not-connected", externalId: "42" })
    const { id, status } = await acme.message({ chatId: chat.id, text: "Hello?" })
    expect(status).toBe("failed")
    expect((await reaches(id, "failed")).deliveryError).toMatch(/no active connection/)
    const { data } = await gql(acme.token, "query ($id: UUID!) { message(id: $id) { deliveryErrorCode } }", { id })
    expect(data.message.deliveryErrorCode).toBe("NOT_CONNECTED")
  })

  promised("of the assistant is cancelled by a take-over while the connector does not answer, and a person's is not", async () => {
    const answer = await post({ messageId: "t-1", chat: { externalId: "taken-over" }, text: "When are you open?" }, 202, assisted)
    fails()
    const queued = await until("the assistant has answered", async () =>
      (await messages(answer.chatId)).find(({ role }: { role: string }) => role === "Assistant"),
    )
    await until(
      "a delivery of the answer has failed",
      async () => (await sql("select failures from channel_message where message_id = $1", [queued.id]))[0]?.failures > 0,
    )
    await rest
      .as(acme.token)
      .patch(`/api/chats/${answer.chatId}/ai-control`, { isUnderAiControl: false, aiDisableReason: "manual" })
      .expect(200)
    expect((await message(queued.id)).status).toBe("cancelled")
    const { id } = await acme.message({ chatId: answer.chatId, text: "A person here" })
    vendor.faults.clear()
    w.clock.advance(10_000)
    await deliver.sweep.run(w.services)
    await reaches(id, "sent")
    w.clock.reset()
    expect(deliveredTo("taken-over")).toEqual(["A person here"])
  })

  promised(
    "of the assistant that was under way when its worker was lost and AI was turned off is not sent again, and blocks no other",
    async () => {
      vendor.faults.next({ fault: "hang", on: "/deliver" })
      const { chatId } = await post({ messageId: "l-1", chat: { externalId: "lost-worker" }, text: "When are you open?" }, 202, assisted)
      const answer = await until("the assistant has answered", async () =>
        (await messages(chatId)).find(({ role }: { role: string }) => role === "Assistant"),
      )
      await until("the connector has the answer", () => (deliveredTo("lost-worker").length > 0 ? true : null))
      await rest.as(acme.token).patch(`/api/chats/${chatId}/ai-control`, { isUnderAiControl: false, aiDisableReason: "manual" }).expect(200)
      expect((await message(answer.id)).status).toBe("queued")
      const { id } = await acme.message({ chatId, text: "A person here" })
      await sql("update chat set delivery_id = gen_random_uuid(), delivery_lease_until = now() - interval '1 second' where id = $1", [
        chatId,
      ])
      await deliver.sweep.run(w.services)
      await reaches(id, "sent")
      expect((await message(answer.id)).status).toBe("cancelled")
      const sent = vendor.server.calls.map(({ json }) => (json as { messageId?: string } | undefined)?.messageId)
      promise("an answer that a take-over withdrew is not sent again", () => {
        expect(sent.filter((each) => each === answer.id)).toHaveLength(1)
        // This one is repeated where its answer was lost.
        expect([...new Set(sent.filter((each) => each === answer.id || each === id))]).toEqual([answer.id, id])
      })
    },
  )

  it("shows how many wait, and what the channel can do", async () => {
    const query =
      "{ channels { id messenger problem lastInboundAt queued capabilities { replies repliesWithMedia mediaKinds captions textLength windowHours typing receipts } } }"
    const { data } = await gql(acme.token, query)
    expect(data.channels).toContainEqual({
      id: connection.id,
      messenger: "CUSTOM_MESSENGER",
      problem: null,
      lastInboundAt: expect.any(String),
      queued: 0,
      capabilities: {
        replies: true,
        repliesWithMedia: true,
        mediaKinds: ["image", "video", "audio", "document"],
        captions: true,
        textLength: 16_000,
        windowHours: null,
        typing: false,
        receipts: ["delivered", "read"],
      },
    })
  })
})

describe("an echo: a person answered in the channel's own app", () => {
  promised("takes the chat over, so that the assistant does not answer, and is not sent back", async () => {
    const { chatId } = await post({ messageId: "e-1", chat: { externalId: "echoed" }, text: "Hello" }, 202, assisted)
    await post({ event: "echo", messageId: "e-2", chat: { externalId: "echoed" }, text: "I answer myself" }, 202, assisted)
    // It waits while an answer is on its way.
    const echo = await until("the echo is stored", async () =>
      (await messages(chatId)).find(({ externalId }: { externalId: string | null }) => externalId === "e-2"),
    )
    expect(echo).toMatchObject({ role: "User", status: "sent", text: "I answer myself", authorId: null })
    expect((await rest.as(acme.token).get(`/api/chats/${chatId}`).expect(200)).body).toMatchObject({
      isUnderAiControl: false,
      aiDisableReason: "auto",
    })
    await w.runDue()
    expect(deliveredTo("echoed")).not.toContain("I answer myself")
  })

  it("in an unknown chat opens none", async () => {
    expect(await post({ event: "echo", messageId: "e-9", chat: { externalId: "nobody" }, text: "Hi" })).toEqual({})
    expect(await sql("select 1 from chat where external_id = 'nobody'")).toEqual([])
  })
})

describe("a server that is killed while it sends", () => {
  /** Leaves a delivery as a crash does: its request has left, and its worker is gone. */
  const crashed = (chatId: string, messageId: string) =>
    sql(
      `with lane as (
        update chat set delivery_id = gen_random_uuid(), delivery_due_at = null, delivery_lease_until = now() + interval '1 hour' where id = $1
      )
      update channel_message set sending_since = now() where message_id = $2`,
      [chatId, messageId],
    )
  const sweep = async () => {
    await sql(
      "update chat set delivery_lease_until = now() - interval '1 second' where delivery_lease_until > now() + interval '30 minutes'",
    )
    await deliver.sweep.run(w.services)
  }
  /** Repeats the sweep, which passes over a chat whose attempt still runs in this server. */
  const sentBySweep = (id: string) =>
    until(`message ${id} is sent by a sweep`, async () => {
      await sweep()
      return (await message(id)).status === "sent"
    })

  promised("has sent the message once: another server sends it again under its ID", async () => {
    const { chatId, externalId } = await customer()
    fails()
    const { id } = await acme.message({ chatId, text: "After the crash" })
    await until(
      "a delivery of the message has failed",
      async () => (await sql("select failures from channel_message where message_id = $1", [id]))[0]?.failures > 0,
    )
    await crashed(chatId, id)
    vendor.faults.clear()
    await sentBySweep(id)
    expect(deliveredTo(externalId)).toEqual(["After the crash"])
  })

  promised("and an answer that a take-over withdrew meanwhile is not sent, and blocks no other message", async () => {
    const answer = await post({ messageId: "w-1", chat: { externalId: "withdrawn" }, text: "When are you open?" }, 202, assisted)
    fails()
    const queued = await until("the assistant has answered", async () =>
      (await messages(answer.chatId)).find(({ role }: { role: string }) => role === "Assistant"),
    )
    await until(
      "a delivery of the answer has failed",
      async () => (await sql("select failures from channel_message where message_id = $1", [queued.id]))[0]?.failures > 0,
    )
    await crashed(answer.chatId, queued.id)
    await rest
      .as(acme.token)
      .patch(`/api/chats/${answer.chatId}/ai-control`, { isUnderAiControl: false, aiDisableReason: "manual" })
      .expect(200)
    vendor.faults.clear()
    const { id } = await acme.message({ chatId: answer.chatId, text: "A person here" })
    await sentBySweep(id)
    expect((await message(queued.id)).status).toBe("cancelled")
    expect(deliveredTo("withdrawn")).toEqual(["A person here"])
  })
})

describe("what arrives while its message is being stored", () => {
  /** Holds the lock of a chat, which its changes then wait for in their order. */
  async function hold(chatId: string) {
    const holder = await openTransaction(w.databaseUrl)
    await holder.query("select from chat where id = $1 for update", [chatId])
    const waiters = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return {
      waiting: (count: number) => until(`${count} statements wait for the lock`, async () => (await sql(waiters)).length >= count),
      release: holder.commit,
      [Symbol.asyncDispose]: holder[Symbol.asyncDispose],
    }
  }

  it("an edit is applied, also when it was stored between the message's look-up and its insertion", async () => {
    const { chatId, externalId } = await customer()
    await using held = await hold(chatId)
    const late = post({ messageId: `${externalId}-2`, chat: { externalId }, text: "As it was written" })
    await held.waiting(1)
    // The connector's edit names no chat, so it waits for none.
    await post({ event: "edit", messageId: `${externalId}-2`, text: "Corrected" })
    await held.release()
    const { messageId } = await late
    expect((await message(messageId)).text).toBe("Corrected")
  })

  it("a receipt is applied, also when it was stored while the result of the delivery waited", async () => {
    const { chatId } = await customer()
    const answer = holdAnswer()
    const { id } = await acme.message({ chatId, text: "On its way" })
    await until("the connector has the message", () =>
      vendor.server.calls.some(({ json }) => (json as { messageId?: string } | undefined)?.messageId === id),
    )
    await using held = await hold(chatId)
    const receipt = post({ event: "receipt", messageId: id, status: "delivered" })
    await held.waiting(1)
    answer()
    await held.waiting(2)
    await held.release()
    await receipt
    await reaches(id, "delivered")
  })
})

describe("what cannot be stored", () => {
  it("is cleaned: NUL and half characters leave a text and a name, a long text keeps its whole in a file", async () => {
    const { chatId, messageId } = await post({
      messageId: "nul",
      chat: { externalId: "odd", name: "A\u0000da\ud800" },
      text: "Hel\u0000lo \ud800",
    })
    expect((await message(messageId)).text).toBe("Hello \ufffd")
    expect((await rest.as(acme.token).get(`/api/chats/${chatId}`).expect(200)).body.name).toBe("Ada\ufffd")
    const long = "word ".repeat(4_000)
    const { messageId: longId } = await post({ messageId: "long", chat: { externalId: "odd" }, text: long })
    const stored = await until("the long text is stored as a file", async () =>
      (await message(longId)).messageMedia[0]?.media.status === "ready" ? message(longId) : null,
    )
    expect(stored.text).toBe(long.slice(0, 16_000))
    expect(stored.messageMedia[0].media).toMatchObject({ filename: "message.txt", mimeType: "text/plain", size: long.length })
  })
})
