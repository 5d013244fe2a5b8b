import supertest from "supertest"
import { v7 } from "uuid"
import { bothProtocols } from "../kit/both-protocols.js"
import { pathOf, samples, unsigned, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { endOfLog, rawSocket, subscribe } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex, sql, gql } = w
  const rest = bothProtocols(w)

  const file = async (name: keyof typeof samples = "png", company = acme) =>
    (await upload(w, company.token, samples[name], `file.${name}`).expect(201)).body
  const post = (fields: object, credential = acme.token) => rest.as(credential).post("/api/messages", fields)

  describe("a message with files", () => {
    it("shows them in order, in the response, in lists, in the chat and over GraphQL", async () => {
      const chat = await acme.chat()
      const [first, second] = [await file("pdf"), await file("png")]
      const { body } = await post({ chatId: chat.id, text: "Look", mediaIds: [first.id, second.id] }).expect(201)
      const shown = (media: typeof first) => ({
        id: expect.any(String),
        mediaId: media.id,
        media: { ...media, url: expect.stringContaining(`/media/${media.id}?expires=`), updatedAt: expect.any(String) },
      })
      const mediaIds = [first.id, second.id]
      expect(body).toMatchObject({ type: "Document", text: "Look", mediaIds, messageMedia: [shown(first), shown(second)] })
      const get = async (path: string) => (await rest.as(acme.token).get(path).expect(200)).body
      const ids = body.messageMedia.map((link: { id: string }) => link.id)
      for (const message of [
        await get(`/api/messages/${body.id}`),
        (await get(`/api/messages?chatId=${chat.id}`)).data[0],
        (await get(`/api/messages?chatId=${chat.id}&take=5`)).data[0],
        (await get("/api/chats?include=lastMessage")).data[0].lastMessage,
      ]) {
        expect(message.mediaIds).toEqual(mediaIds)
        expect(message.messageMedia).toEqual([shown(first), shown(second)])
        expect(message.messageMedia.map((link: { id: string }) => link.id)).toEqual(ids)
      }
      const { data } = await gql(
        acme.token,
        "query ($id: UUID!) { message(id: $id) { type messageMedia { mediaId media { filename mimeType } } } }",
        {
          id: body.id,
        },
      )
      const asked = await gql(acme.token, "query ($id: UUID!) { message(id: $id) { mediaIds } }", { id: body.id })
      expect(asked.data.message).toEqual({ mediaIds })
      expect(data.message).toEqual({
        type: "DOCUMENT",
        messageMedia: [
          { mediaId: first.id, media: { filename: "file.pdf", mimeType: "application/pdf" } },
          { mediaId: second.id, media: { filename: "file.png", mimeType: "image/png" } },
        ],
      })
      await supertest(w.url).get(pathOf(body.messageMedia[1].media.url)).expect(200)
    })

    it.each([
      ["png", "Photo"],
      ["svg", "Photo"],
      ["mp4", "Video"],
      ["mp3", "Audio"],
      ["pdf", "Document"],
      ["txt", "Document"],
    ] as const)("%s is a %s, when its sender says nothing else", async (name, type) => {
      const chat = await acme.chat()
      expect((await post({ chatId: chat.id, mediaIds: [(await file(name)).id] }).expect(201)).body).toMatchObject({ type, text: null })
      // The text is the caption of the file then.
      const captioned = { chatId: chat.id, text: "Look", type: "Text", mediaIds: [(await file(name)).id] }
      expect((await post(captioned).expect(201)).body).toMatchObject({ type, text: "Look" })
      const { body } = await post({ chatId: chat.id, type: "Document", mediaIds: [(await file(name)).id] }).expect(201)
      expect(body.type).toBe("Document")
    })

    it("needs no text; a blank one counts as absent", async () => {
      const chat = await acme.chat()
      for (const text of [undefined, null, "", "  \n"])
        expect((await post({ chatId: chat.id, text, mediaIds: [(await file()).id] }).expect(201)).body.text).toBeNull()
      await post({ chatId: chat.id, mediaIds: [] }).expect(400)
      expect((await post({ chatId: chat.id, text: "Hello", mediaIds: [] }).expect(201)).body).toMatchObject({
        type: "Text",
        messageMedia: [],
      })
      expect((await post({ chatId: chat.id, text: "Hello", mediaIds: null }).expect(201)).body).toMatchObject({
        type: "Text",
        messageMedia: [],
      })
    })

    it("takes ten, each once", async () => {
      const chat = await acme.chat()
      const ids: string[] = []
      for (let count = 0; count < 11; count += 1) ids.push((await file()).id)
      const { body } = await post({ chatId: chat.id, mediaIds: [...ids.slice(0, 10), ids[3], ids[0]!.toUpperCase()] }).expect(201)
      expect(body.messageMedia.map((link: { mediaId: string }) => link.mediaId)).toEqual(ids.slice(0, 10))
      expect((await post({ chatId: chat.id, mediaIds: ids }).expect(400)).body.details).toMatchObject([{ path: "mediaIds" }])
    })

    it("may share a file with other messages", async () => {
      const media = await file()
      const [one, two] = [await acme.chat(), await acme.chat()]
      for (const chatId of [one.id, two.id, one.id]) {
        const { body } = await post({ chatId, mediaIds: [media.id] }).expect(201)
        expect(body.messageMedia[0].mediaId).toBe(media.id)
      }
    })

    promised("is 400 with a file that is unknown or foreign, or no id, and nothing is stored", async () => {
      const chat = await acme.chat()
      const [own, theirs] = [await file(), await file("png", globex)]
      for (const id of [v7(), theirs.id]) {
        for (const where of [{ chatId: chat.id }, {}]) {
          const { body } = await post({ ...where, text: "x", mediaIds: [own.id, id] }).expect(400)
          expect(body).toMatchObject({ message: `Unknown mediaIds: ${id}`, details: [{ path: "mediaIds" }] })
        }
      }
      for (const mediaIds of [["nonsense"], "nonsense", [null], [[own.id]], {}, 5]) await post({ chatId: chat.id, mediaIds }).expect(400)
      // GraphQL accepts a single value for a list.
      await w.rest.as(acme.token).post("/api/messages", { chatId: chat.id, mediaIds: own.id }).expect(400)
      await post({ chatId: (await globex.chat()).id, mediaIds: [own.id] }).expect(403)
      expect(await sql("select 1 from message where chat_id = $1", [chat.id])).toEqual([])
      expect(await sql("select forget_at is null as kept from media where id = $1", [own.id])).toEqual([{ kept: false }])
    })

    it("belongs to the chat's company, for a user of several", async () => {
      const person = await globex.person("member", await acme.person())
      const [chat, theirs] = [await acme.chat(), await file("png", globex)]
      await post({ chatId: chat.id, mediaIds: [theirs.id] }, person.jwt).expect(400)
      await post({ chatId: (await globex.chat()).id, mediaIds: [theirs.id] }, person.jwt).expect(201)
    })

    it("without a chat is stored with them", async () => {
      const media = await file()
      const { body } = await post({ mediaIds: [media.id] }).expect(201)
      expect(body).toMatchObject({ chatId: null, sequence: null, type: "Photo", status: "stored", messageMedia: [{ mediaId: media.id }] })
      expect(body.mediaIds).toEqual([media.id])
      expect((await rest.as(acme.token).get(`/api/messages/${body.id}`).expect(200)).body).toMatchObject({
        mediaIds: [media.id],
        messageMedia: [{}],
      })
    })

    it("of a customer is received", async () => {
      const chat = await acme.chat({ assistantId: acme.assistant.id })
      const { body } = await post({ chatId: chat.id, role: "Customer", mediaIds: [(await file()).id] }).expect(201)
      expect(body).toMatchObject({ role: "Customer", type: "Photo", status: "stored", mediaIds: [expect.any(String)], messageMedia: [{}] })
      expect((await rest.as(acme.token).get(`/api/chats/${chat.id}`).expect(200)).body.unreadCount).toBe(1)
      expect(await sql("select reply_due_at is not null as due from chat where id = $1", [chat.id])).toEqual([{ due: true }])
    })

    it("is quoted with them", async () => {
      const chat = await acme.chat()
      const quoted = (await post({ chatId: chat.id, mediaIds: [(await file()).id] }).expect(201)).body
      const { body } = await post({ chatId: chat.id, text: "That one", replyToMessageId: quoted.id }).expect(201)
      expect(body).toMatchObject({ mediaIds: [], replyTo: { mediaIds: quoted.mediaIds } })
      expect(body.replyTo.messageMedia).toMatchObject([
        { mediaId: quoted.messageMedia[0].mediaId, media: { url: expect.stringContaining("/media/") } },
      ])
      expect((await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}`).expect(200)).body.data[0].replyTo.messageMedia).toHaveLength(
        1,
      )
    })

    it.each([
      ["playground", 201],
      ["telegram-bot", 201],
      ["gmail", 201],
      ["instagram", 400],
      ["messenger", 400],
      ["viber-echat", 400],
    ])("as a reply on %s is %i", async (messenger, status) => {
      const chat = await acme.chat({ messenger, fromId: messenger })
      const first = await acme.message({ chatId: chat.id })
      await post({ chatId: chat.id, replyToMessageId: first.id, mediaIds: [(await file()).id] }).expect(status)
      if (messenger !== "viber-echat") await post({ chatId: chat.id, replyToMessageId: first.id, text: "Yes" }).expect(201)
    })

    promised("under an Idempotency-Key is stored once and returned again, with new addresses", async () => {
      const chat = await acme.chat()
      const mediaIds = [(await file()).id]
      const send = (ids: string[]) => post({ chatId: chat.id, mediaIds: ids }).set("Idempotency-Key", "photo-1")
      const first = (await send(mediaIds).expect(201)).body
      w.clock.advance(2_000)
      const { body, headers } = await send(mediaIds).expect(201)
      expect(headers["idempotency-replayed"]).toBe("true")
      expect(unsigned(body)).toEqual(unsigned(first))
      expect(body.messageMedia[0].media.url).not.toBe(first.messageMedia[0].media.url)
      await supertest(w.url).get(pathOf(body.messageMedia[0].media.url)).expect(200)
      await send([(await file()).id]).expect(422)
    })
  })

  describe("a widget's visitor", () => {
    it("sees the files of their chat, in the list and in events, with addresses that work", async () => {
      const said = await supertest(w.url).post(`/hooks/widget/${acme.widget.id}`).send({ text: "Hello" }).expect(201)
      const { chatId, visitorToken } = said.body
      const after = await endOfLog(w)
      await post({ chatId, mediaIds: [(await file()).id] }).expect(201)
      const query = "query ($chatId: UUID!) { messages(chatId: $chatId) { nodes { messageMedia { media { filename url } } } } }"
      const { data } = await gql(visitorToken, query, { chatId })
      const [shown] = data.messages.nodes[0].messageMedia
      await supertest(w.url).get(pathOf(shown.media.url)).expect(200)

      const socket = await rawSocket(w)
      await socket.open(visitorToken)
      const events = "subscription ($after: String) { events(after: $after) { payload message { messageMedia { media { url } } } } }"
      socket.send({ id: "1", type: "subscribe", payload: { query: events, variables: { after } } })
      // biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
      const next = () => socket.heard.find((message) => message.type === "next")?.payload as any
      const told = await until("the socket has the event", next, () => socket.heard)
      socket.socket.close()
      expect(told.errors).toBeUndefined()
      for (const { url } of [told.data.events.message.messageMedia[0].media, told.data.events.payload.messageMedia[0].media])
        await supertest(w.url).get(pathOf(url)).expect(200)
      await upload(w, visitorToken, samples.png, "dot.png").expect(401)
    })
  })

  describe("events", () => {
    it("carry the files as REST shows them, stored without an address and delivered with a new one", async () => {
      const chat = await acme.chat()
      const after = await endOfLog(w)
      const { body } = await post({ chatId: chat.id, mediaIds: [(await file()).id, (await file("pdf")).id] }).expect(201)
      const reply = (await post({ chatId: chat.id, text: "That", replyToMessageId: body.id }).expect(201)).body
      const [kept] = await sql("select payload from event where chat_id = $1 and type = 'MESSAGE_CREATED' order by id", [chat.id])
      expect(JSON.stringify(kept.payload)).not.toContain("signature")
      expect(kept.payload.message).toMatchObject({ mediaIds: body.mediaIds, messageMedia: [{}, {}] })

      w.clock.advance(2_000)
      const heard = await subscribe(w, acme.token, { chatId: chat.id, after })
      const [created, replied] = (await heard.take(2)) as { payload: typeof body }[]
      await heard.stop()
      const socket = await rawSocket(w)
      await socket.open(acme.token)
      const typed = "subscription ($after: String) { events(after: $after) { payload message { messageMedia { mediaId media { url } } } } }"
      socket.send({ id: "1", type: "subscribe", payload: { query: typed, variables: { after } } })
      // biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
      const results = () => socket.heard.map(({ payload }) => payload as any)
      const ofChat = () => results().filter((payload) => payload?.data?.events.payload.chatId === chat.id)
      await until("the socket has both events", () => ofChat().length >= 2, results)
      socket.socket.close()
      const [first] = ofChat()
      expect(first.data.events.message.messageMedia).toMatchObject(
        body.messageMedia.map(({ mediaId }: { mediaId: string }) => ({ mediaId })),
      )
      expect(unsigned(created!.payload)).toEqual(unsigned(body))
      expect(unsigned(replied!.payload)).toEqual(unsigned(reply))
      const { url } = created!.payload.messageMedia[0].media
      expect(url).not.toBe(body.messageMedia[0].media.url)
      expect(url).toContain("signature=")
    })

    it("stored before messages had mediaIds are delivered with them, and so are stored responses", async () => {
      const chat = await acme.chat()
      const after = await endOfLog(w)
      const send = (fields: object) => post({ chatId: chat.id, ...fields }).set("Idempotency-Key", "photo-2")
      const first = (await send({ mediaIds: [(await file()).id, (await file("pdf")).id] }).expect(201)).body
      const reply = (await post({ chatId: chat.id, text: "That", replyToMessageId: first.id }).expect(201)).body
      const older = "payload #- '{message,mediaIds}' #- '{message,replyTo,mediaIds}'"
      await sql(`update event set payload = ${older} where chat_id = $1`, [chat.id])
      await sql(`update idempotency_key set payload = ${older} where key = 'photo-2'`)

      expect(unsigned((await send({ mediaIds: first.mediaIds }).expect(201)).body)).toEqual(unsigned(first))
      const heard = await subscribe(w, acme.token, { chatId: chat.id, after })
      const told = (await heard.take(2)).map(({ payload }) => unsigned(payload))
      expect(told).toEqual([unsigned(first), unsigned(reply)])
      expect(told[1].replyTo.mediaIds).toEqual(first.mediaIds)
      await heard.stop()
    })
  })
})
