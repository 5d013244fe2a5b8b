import { type Endpoint, webhookStories } from "../kit/event-webhooks.js"
import { subscribe } from "../kit/sockets.js"

const { w, time, endpoint, hooks } = await webhookStories()
const { acme, globex, rest } = w

/** Deletes an endpoint. */
const remove = ({ id }: Endpoint) => rest.as(acme.token).delete(`/api/event-webhooks/${id}`).expect(200, { id, deleted: true })

describe("an event", () => {
  it("is sent to the endpoints of its type, signed, with the payload that a subscription receives", async () => {
    const [messages, chats] = [
      await hooks.create(endpoint),
      await hooks.create(`${endpoint.url}/chats`, { types: ["CHAT_CREATED", "CHAT_CREATED"] }),
    ]
    expect(messages).toEqual({
      ...{ id: expect.any(String), companyId: acme.id, url: endpoint.url, types: ["MESSAGE_CREATED"], query: null },
      ...{ disabled: false, disabledReason: null, ordered: false, failingSince: null },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String), secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) },
    })
    expect(chats.types).toEqual(["CHAT_CREATED"])
    const live = await subscribe(w, acme.token)
    const chat = await acme.chat()
    await acme.message({ chatId: chat.id, text: "Where is my order?" })
    const events = await live.take(2)
    await live.stop()
    await hooks.send()

    expect(endpoint.requests.map(({ url }) => url).sort()).toEqual(["/", "/chats"])
    for (const request of endpoint.requests) {
      const { secret } = request.url === "/" ? messages : chats
      const body = hooks.verified(request, secret)
      const { id, createdAt, payload, type } = events.find((each) => each.type === body.type)! as never as Record<string, string>
      expect(body).toEqual({ id, type, createdAt, companyId: acme.id, payload })
      expect(request).toMatchObject({ method: "POST", headers: { "content-type": "application/json", "webhook-id": id } })
      expect(request.headers["user-agent"]).toBe("Service-Platform-API/1.0")
      expect(() => hooks.verified(request, (request.url === "/" ? chats : messages).secret)).toThrow(/signature/i)
    }
    const [delivery, ...more] = await hooks.deliveries(messages)
    expect(more).toEqual([])
    expect(delivery).toEqual({
      ...{
        id: expect.any(String),
        companyId: acme.id,
        webhookId: messages.id,
        eventId: endpoint.requests.find(({ url }) => url === "/")!.headers["webhook-id"],
      },
      ...{ type: "MESSAGE_CREATED", status: "succeeded", payload: null, nextAttemptAt: null },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
      attempts: [
        { attemptedAt: expect.any(String), responseStatus: 200, responseBody: '{"ok":true}', latencyMs: expect.any(Number), error: null },
      ],
    })
    const metrics = await (await fetch(`${w.url}/metrics`)).text()
    expect(metrics).toContain('platform_event_deliveries_total{outcome="succeeded"} 2')
    expect(metrics).toContain("platform_event_deliveries_waiting 0")
    await remove(messages)
    await remove(chats)
    expect(await w.sql("select 1 from event_delivery")).toEqual([])
  })
})

describe("an endpoint", () => {
  const path = "/api/event-webhooks"
  const body = { url: "http://127.0.0.1:9/", types: ["CHANNEL_UPDATED"] }

  it("is read and changed by access tokens, owners and admins; members are refused, and another company's is not found", async () => {
    const made = await hooks.create(endpoint)
    const { secret: _secret, ...shown } = made
    for (const credential of [acme.token, acme.owner.jwt, acme.admin.jwt]) {
      const as = rest.as(credential)
      expect((await as.get(path).expect(200)).body[0]).toEqual(shown)
      expect((await as.get(`${path}/${made.id}`).expect(200)).body).toEqual(shown)
      await as.patch(`${path}/${made.id}`, { ordered: false }).expect(200)
      const { body: another } = await as.post(path, { ...body, companyId: acme.id }).expect(201)
      await as.delete(`${path}/${another.id}`).expect(200)
    }
    const own = [
      ["get", ""],
      ["patch", ""],
      ["delete", ""],
      ["get", "/deliveries"],
      ["post", "/test"],
      ["post", "/rotate-secret"],
    ] as const
    const since = { since: "2026-01-31T09:15:00.123Z" }
    for (const [credential, status] of [
      [acme.member.jwt, 403],
      [globex.owner.jwt, 404],
      [globex.token, 404],
    ] as const) {
      for (const [method, rest_] of own) await rest.as(credential).ask(method, `${path}/${made.id}${rest_}`).expect(status)
      await rest.as(credential).post(`${path}/${made.id}/redeliver`, since).expect(status)
    }
    await rest.as(acme.member.jwt).get(path).expect(403)
    await rest.as(acme.member.jwt).post(path, body).expect(403)
    await rest.as(acme.owner.jwt).get(`${path}?companyId=${globex.id}`).expect(403)
    await rest
      .as(acme.owner.jwt)
      .post(path, { ...body, companyId: globex.id })
      .expect(403)
    expect((await rest.as(globex.token).get(path).expect(200)).body).toEqual([])
    await remove(made)
    await rest.as(acme.token).get(`${path}/${made.id}`).expect(404)
  })

  it("of several companies is listed where the person may manage it", async () => {
    const person = await acme.person("admin")
    await globex.person("member", person)
    const made = await hooks.create(endpoint)
    const { body: foreign } = await rest.as(globex.token).post(path, body).expect(201)
    const { body: listed } = await rest.as(person.jwt).get(path).expect(200)
    expect(listed.map(({ id }: Endpoint) => id)).toEqual([made.id])
    await rest.as(person.jwt).get(`${path}/${foreign.id}`).expect(403)
    await rest.as(person.jwt).get(`${path}?companyId=${globex.id}`).expect(403)
  })

  it.each([
    ["an address that is none", { url: "nowhere" }, "url"],
    ["another scheme", { url: "ftp://example.com/" }, "url"],
    ["a password in the address", { url: "https://me:word@example.com/" }, "url"],
    ["an address that is too long", { url: `https://example.com/${"x".repeat(2_029)}` }, "url"],
    ["no address", { url: null }, "url"],
    ["no types", { types: [] }, "types"],
    ["types that are null", { types: null }, "types"],
    ["an unknown type", { types: ["MESSAGE_LOST"] }, "types.0"],
  ])("is refused with %s", async (_name, wrong, at) => {
    const { body: refused } = await rest
      .as(acme.token)
      .post(path, { ...body, ...wrong })
      .expect(400)
    expect(refused).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: expect.stringContaining(at) }] })
    const made = await hooks.create(endpoint)
    await rest.as(acme.token).patch(`${path}/${made.id}`, wrong).expect(400)
  })

  it("is one of at most 50", async () => {
    const made = await Promise.all(Array.from({ length: 50 }, () => hooks.create("http://127.0.0.1:9/", { disabled: true })))
    expect(made.map(({ disabled }) => disabled)).toEqual(made.map(() => true))
    const { body: refused } = await rest.as(acme.token).post(path, body).expect(400)
    expect(refused.message).toMatch(/at most 50/)
    await rest.as(globex.token).post(path, body).expect(201)
  })

  it("is not changed by a read-only token", async () => {
    const made = await hooks.create(endpoint)
    const tokens = `/api/companies/${acme.id}/access-tokens`
    const { body: reader } = await rest.as(acme.owner.jwt).post(tokens, { name: "Reader", readOnly: true }).expect(201)
    await rest.as(reader.token).get(`${path}/${made.id}`).expect(200)
    await rest.as(reader.token).post(`${path}/${made.id}/test`).expect(403)
    await rest.as(reader.token).delete(`${path}/${made.id}`).expect(403)
  })
})

describe("the secret", () => {
  it("is shown at its creation and rotation only, and encrypted at rest", async () => {
    const made = await hooks.create(endpoint)
    expect((await hooks.look(made)).secret).toBeUndefined()
    const { data } = await w.gql(acme.token, `{ eventWebhook(id: "${made.id}") { secret } }`)
    expect(data.eventWebhook.secret).toBeNull()
    const { body: rotated } = await rest.as(acme.token).post(`/api/event-webhooks/${made.id}/rotate-secret`).expect(201)
    expect(rotated.secret).toMatch(/^whsec_/)
    const rows = await w.sql("select w::text as row from event_webhook w")
    for (const { secret } of [made, rotated]) expect(JSON.stringify(rows)).not.toContain(secret.slice(6, 40))
  })

  it("before a rotation signs too for 24 hours; of two rotations in a day the oldest ends", async () => {
    const made = await hooks.create(endpoint)
    const chat = await acme.chat()
    const rotate = async () => (await rest.as(acme.token).post(`/api/event-webhooks/${made.id}/rotate-secret`).expect(201)).body.secret
    const fitting = async (secrets: string[]) => {
      endpoint.requests.length = 0
      await acme.message({ chatId: chat.id })
      await hooks.send()
      const [request] = endpoint.requests
      return secrets.filter((secret) => {
        try {
          return Boolean(hooks.verified(request!, secret))
        } catch {
          return false
        }
      })
    }
    const first = made.secret
    const second = await rotate()
    expect(await fitting([first, second])).toEqual([first, second])
    expect(String(endpoint.requests[0]!.headers["webhook-signature"]).split(" ")).toHaveLength(2)
    time.pass(24 * 60 * 60_000 - 1)
    expect(await fitting([first, second])).toEqual([first, second])
    time.pass(1)
    expect(await fitting([first, second])).toEqual([second])
    const third = await rotate()
    const fourth = await rotate()
    expect(await fitting([first, second, third, fourth])).toEqual([third, fourth])
  })
})

describe("a test", () => {
  it("sends one signed event, once, and returns its delivery", async () => {
    const made = await hooks.create(endpoint, { disabled: true })
    const { body: delivery } = await rest.as(acme.token).post(`/api/event-webhooks/${made.id}/test`).expect(201)
    expect(endpoint.requests).toHaveLength(1)
    const sent = hooks.verified(endpoint.requests[0]!, made.secret)
    expect(sent).toEqual({
      id: delivery.eventId,
      type: "EVENT_WEBHOOK_TEST",
      createdAt: expect.stringMatching(/Z$/),
      companyId: acme.id,
      payload: { webhookId: made.id, message: "This is a test" },
    })
    expect(delivery).toMatchObject({
      status: "succeeded",
      type: "EVENT_WEBHOOK_TEST",
      payload: sent.payload,
      attempts: [{ responseStatus: 200 }],
    })

    endpoint.answer({ status: 500, json: { reason: "out of order" } })
    const { body: failed } = await rest.as(acme.token).post(`/api/event-webhooks/${made.id}/test`).expect(201)
    expect(failed).toMatchObject({
      status: "failed",
      nextAttemptAt: null,
      attempts: [{ responseStatus: 500, responseBody: '{"reason":"out of order"}', error: "The endpoint answered with status 500" }],
    })
    time.pass(24 * 60 * 60_000)
    await hooks.send()
    expect(endpoint.requests).toHaveLength(2)
    expect(await hooks.look(made)).toMatchObject({ failingSince: null })
    expect((await hooks.deliveries(made)).map(({ status }) => status)).toEqual(["succeeded", "failed"])
  })
})

describe("deliveries", () => {
  it("are listed newest first, in pages, by state and type", async () => {
    const made = await hooks.create(endpoint, { types: ["MESSAGE_CREATED", "CHAT_CREATED"] })
    const chat = await acme.chat()
    for (const text of ["one", "two", "three"]) await acme.message({ chatId: chat.id, text })
    endpoint.answer(({ body }) => (JSON.parse(String(body)).payload.text === "two" ? 500 : 200))
    await hooks.send()
    const list = async (query: string) =>
      (await rest.as(acme.token).get(`/api/event-webhooks/${made.id}/deliveries?${query}`).expect(200)).body
    const all = await list("")
    expect(all).toMatchObject({ totalCount: 4, nextCursor: null })
    expect(all.data.map(({ type, status }: Endpoint) => [type, status])).toEqual([
      ["MESSAGE_CREATED", "succeeded"],
      ["MESSAGE_CREATED", "pending"],
      ["MESSAGE_CREATED", "succeeded"],
      ["CHAT_CREATED", "succeeded"],
    ])
    expect(await list("status=pending")).toMatchObject({ totalCount: 1, data: [{ id: all.data[1].id, nextAttemptAt: expect.any(String) }] })
    expect((await list("type=CHAT_CREATED")).data).toEqual([all.data[3]])
    expect(await list("type=MESSAGE_CREATED&status=succeeded&skip=1&take=1")).toMatchObject({
      totalCount: 2,
      data: [{ id: all.data[2].id }],
    })
    for (const wrong of ["status=lost", "type=NONE", "take=0", "skip=-1"])
      await rest.as(acme.token).get(`/api/event-webhooks/${made.id}/deliveries?${wrong}`).expect(400)
  })
})
