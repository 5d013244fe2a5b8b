import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex, sql } = w
  const rest = bothProtocols(w)

  const post = (path: string, body: object, as = acme.token) => rest.as(as).post(path, body)

  describe("labels", () => {
    it("are tags: adding one creates the tag of that name, and adding it again in another case changes nothing", async () => {
      const chat = await acme.chat()
      await post(`/api/chats/${chat.id}/meta/labels`, { label: "  Größe " }).expect(201)
      const again = await post(`/api/chats/${chat.id}/meta/labels`, { label: "GRÖßE" }).expect(201)

      expect(again.body.meta.labels).toEqual(["Größe"])
      expect(again.body.tags).toMatchObject([{ name: "Größe", companyId: acme.id }])
      const dictionary = await rest.as(acme.token).get("/api/chat-tags").expect(200)
      expect(dictionary.body.filter((tag: { name: string }) => /größe/i.test(tag.name))).toHaveLength(1)
    })

    // Unicode case mapping: a letter may become two, or differ at the end of a word.
    it.each(["Straße", "İzmir", "ΟΔΟΣ", "ﬁne", "ǅ", "ЁЛКА", "éa"])("%s is one label in any case", async (name) => {
      const chat = await acme.chat()
      const path = `/api/chats/${chat.id}/meta/labels`
      const { body } = await post(path, { label: name }).expect(201)
      const spellings = [name.toUpperCase(), name.toLowerCase(), name.toUpperCase().toLowerCase(), name.toLowerCase().toUpperCase()]
      for (const label of spellings) {
        expect((await post(path, { label }).expect(201)).body.tags).toEqual(body.tags)
        await post("/api/chat-tags", { name: label }).expect(409)
      }
      const other = (await post("/api/chat-tags", { name: `not ${name}` }).expect(201)).body
      await rest.as(acme.token).patch(`/api/chat-tags/${other.id}`, { name: name.toUpperCase() }).expect(409)
      const gone = await rest
        .as(acme.token)
        .delete(`${path}/${encodeURIComponent(spellings[1]!)}`)
        .expect(200)
      expect(gone.body).toMatchObject({ tags: [], meta: { labels: [] } })
    })

    it("become one tag and one tagging when 20 requests add the same at once", async () => {
      const chats = await Promise.all([acme.chat(), acme.chat()])
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          post(`/api/chats/${chats[index % 2]!.id}/meta/labels`, { label: index % 3 ? "Rush" : "RUSH" }),
        ),
      )
      expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(201))
      expect(await sql("select id from chat_tag where company_id = $1 and lower(name) = 'rush'", [acme.id])).toHaveLength(1)
      expect(await sql("select 1 from chat_tagging g join chat_tag t on t.id = g.tag_id where lower(t.name) = 'rush'", [])).toHaveLength(2)
    })

    it.each(["a/b", "50%", "a b+c", "?#&;=", "😀 ok", "ünï", "%2F", '"quoted"'])("%s is removed by its URL-encoded name", async (label) => {
      const chat = await acme.chat()
      await post(`/api/chats/${chat.id}/meta/labels`, { label: "kept" }).expect(201)
      await post(`/api/chats/${chat.id}/meta/labels`, { label }).expect(201)
      const path = `/api/chats/${chat.id}/meta/labels/${encodeURIComponent(label)}`
      expect((await rest.as(acme.token).delete(path).expect(200)).body.meta.labels).toEqual(["kept"])
    })

    it("are removed by name, ignoring case and URL-encoded; an absent one is no error", async () => {
      const chat = await acme.chat()
      await post(`/api/chats/${chat.id}/meta/labels`, { label: "50% off/now" }).expect(201)
      const path = `/api/chats/${chat.id}/meta/labels/${encodeURIComponent("50% OFF/now")}`
      expect((await rest.as(acme.token).delete(path).expect(200)).body.meta.labels).toEqual([])
      expect((await rest.as(acme.token).delete(path).expect(200)).body.meta.labels).toEqual([])
    })

    it("have 1 to 64 characters, counted in code points after trimming", async () => {
      const chat = await acme.chat()
      await post(`/api/chats/${chat.id}/meta/labels`, { label: "😀".repeat(64) }).expect(201)
      for (const label of ["", "   ", "😀".repeat(65), 5, null]) await post(`/api/chats/${chat.id}/meta/labels`, { label }).expect(400)
    })
  })

  describe("tags", () => {
    const tag = async (name: string, as = acme.token) => (await post("/api/chat-tags", { name }, as).expect(201)).body

    it("are unique in a company regardless of case, on creation and on renaming, and belong to one company each", async () => {
      const red = await tag("Ärger")
      await post("/api/chat-tags", { name: "äRGER" }).expect(409)
      const other = await tag("Freude")
      await rest.as(acme.token).patch(`/api/chat-tags/${other.id}`, { name: "ÄRGER" }).expect(409)
      await tag("Ärger", globex.token)
      await rest.as(acme.token).patch(`/api/chat-tags/${red.id}`, { name: "ärger", color: "#ABC" }).expect(200)
    })

    it("lets one of two renames to the same name through", async () => {
      const [first, second] = [await tag("One"), await tag("Two")]
      const answers = await Promise.all(
        [first, second].map((each) => rest.as(acme.token).patch(`/api/chat-tags/${each.id}`, { name: "Same" })),
      )
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409])
    })

    promised("are set as a whole, repeated ids counting once; an unknown or foreign id is refused and nothing changes", async () => {
      const chat = await acme.chat()
      const [a, b, foreign] = [await tag("set a"), await tag("set b"), await tag("set c", globex.token)]
      const put = (tagIds: unknown) => rest.as(acme.token).put(`/api/chats/${chat.id}/tags`, { tagIds })
      expect((await put([a.id, a.id, b.id.toUpperCase()]).expect(200)).body.meta.labels).toEqual(["set a", "set b"])
      await put([a.id, foreign.id]).expect(400)
      await put("x").expect(400)
      expect((await rest.as(acme.token).get(`/api/chats/${chat.id}`)).body.meta.labels).toEqual(["set a", "set b"])
      expect((await put([]).expect(200)).body.tags).toEqual([])
    })

    it("are added and removed one by one; repeating is no error", async () => {
      const chat = await acme.chat()
      const { id } = await tag("single")
      for (let turn = 0; turn < 2; turn += 1)
        expect((await post(`/api/chats/${chat.id}/tags`, { tagId: id }).expect(201)).body.tags).toHaveLength(1)
      for (let turn = 0; turn < 2; turn += 1)
        expect((await rest.as(acme.token).delete(`/api/chats/${chat.id}/tags/${id}`).expect(200)).body.tags).toEqual([])
      await post(`/api/chats/${chat.id}/tags`, { tagId: chat.id }).expect(400)
    })

    it("leave every chat when they are deleted", async () => {
      const chat = await acme.chat()
      const { id } = await tag("doomed")
      await post(`/api/chats/${chat.id}/tags`, { tagId: id }).expect(201)
      await rest.as(acme.token).delete(`/api/chat-tags/${id}`).expect(200, { id, deleted: true })
      expect((await rest.as(acme.token).get(`/api/chats/${chat.id}`)).body.tags).toEqual([])
    })

    it("are suggested again after a renaming, but not after a change of case alone", async () => {
      const { id } = await tag("Spam")
      const assistant = await acme.makeAssistant({ excludedTags: ["Other", "SPAM"] })
      const excluded = async () => (await rest.as(acme.token).get(`/api/assistants-new/${assistant.id}`)).body.excludedTags
      await rest.as(acme.token).patch(`/api/chat-tags/${id}`, { name: "spam" }).expect(200)
      expect(await excluded()).toEqual(["Other", "SPAM"])
      await rest.as(acme.token).patch(`/api/chat-tags/${id}`, { name: "Junk" }).expect(200)
      expect(await excluded()).toEqual(["Other"])
    })
  })

  describe("folders of chats", () => {
    promised("take a chat, release it with null, and refuse another company's folder or a missing field", async () => {
      const chat = await acme.chat()
      const folder = await acme.folder({ name: "Returns" })
      const foreign = await globex.folder({ name: "Returns" })
      const put = (body: object) => rest.as(acme.token).patch(`/api/chats/${chat.id}/folder`, body)
      expect((await put({ folderId: folder.id }).expect(200)).body).toMatchObject({ folderId: folder.id, folder: { name: "Returns" } })
      await put({ folderId: foreign.id }).expect(400)
      await put({}).expect(400)
      expect((await put({ folderId: null }).expect(200)).body).toMatchObject({ folderId: null, folder: null })
    })

    it("keep their chats, unfiled, when they are deleted", async () => {
      const folder = await acme.folder({ name: "Gone" })
      const chat = await acme.chat()
      await rest.as(acme.token).patch(`/api/chats/${chat.id}/folder`, { folderId: folder.id }).expect(200)
      await rest.as(acme.token).delete(`/api/chat-folders/${folder.id}`).expect(200, { id: folder.id, deleted: true })
      expect((await rest.as(acme.token).get(`/api/chats/${chat.id}`)).body.folderId).toBeNull()
    })
  })

  describe("comments", () => {
    it("have an author only under a user's JWT, and are removed once", async () => {
      const chat = await acme.chat()
      await post(`/api/chats/${chat.id}/meta/comments`, { text: "by the integration" }).expect(201)
      const { body } = await post(`/api/chats/${chat.id}/meta/comments`, { text: " by Ann " }, acme.owner.jwt).expect(201)
      expect(body.meta.comments).toMatchObject([
        { text: "by the integration", authorId: null },
        { text: "by Ann", authorId: acme.owner.id },
      ])
      const [first] = body.meta.comments
      const remove = () => rest.as(acme.token).delete(`/api/chats/${chat.id}/meta/comments/${first.id}`).expect(200)
      expect((await remove()).body.meta.comments).toHaveLength(1)
      expect((await remove()).body.meta.comments).toHaveLength(1)
      for (const text of ["", "x".repeat(2001), 7]) await post(`/api/chats/${chat.id}/meta/comments`, { text }).expect(400)
    })

    it("have 1 to 2000 characters, counted in code points after trimming, and the time when they were written", async () => {
      const chat = await acme.chat()
      const add = (text: unknown) => post(`/api/chats/${chat.id}/meta/comments`, { text })
      const { body } = await add(` ${"📝".repeat(2000)}\n`).expect(201)
      expect(body.meta.comments).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          text: "📝".repeat(2000),
          authorId: null,
          createdAt: expect.stringMatching(/\.\d{3}Z$/),
        },
      ])
      for (const text of ["📝".repeat(2001), " \n", "a\u0000b", null, undefined]) await add(text).expect(400)
      // Half of a surrogate pair, as in a text that was cut, is stored as the replacement character.
      expect((await add("cut \ud83d").expect(201)).body.meta.comments[1].text).toBe("cut \ufffd")
    })

    it("are all kept when ten are added at once", async () => {
      const chat = await acme.chat()
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => post(`/api/chats/${chat.id}/meta/comments`, { text: `note ${index}` }).expect(201)),
      )
      const { body } = await rest.as(acme.token).get(`/api/chats/${chat.id}`)
      expect(new Set(body.meta.comments.map((comment: { text: string }) => comment.text)).size).toBe(10)
    })
  })

  describe("read state", () => {
    it("counts customer messages, is 0 when read, and recounts from the company's last message when unread again", async () => {
      const chat = await acme.chat()
      const say = (role: string) => acme.message({ chatId: chat.id, text: role, role })
      for (const role of ["Customer", "User", "Customer", "Customer"]) await say(role)
      const ours = (await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}&take=10`)).body.data.find(
        (each: { role: string }) => each.role === "User",
      )

      const read = await post(`/api/chats/${chat.id}/read`, {}).expect(201)
      expect(read.body).toMatchObject({ unreadCount: 0, lastReadAt: expect.any(String) })
      const unread = await post(`/api/chats/${chat.id}/unread`, {}).expect(201)
      expect(unread.body).toMatchObject({ unreadCount: 2, lastReadAt: ours.createdAt })
    })

    it("is at least one when the company wrote last, and counts all when it never wrote", async () => {
      const [answered, silent] = [await acme.chat(), await acme.chat()]
      await acme.message({ chatId: answered.id, text: "bye", role: "User" })
      await acme.message({ chatId: silent.id, text: "hello", role: "Customer" })
      expect((await post(`/api/chats/${answered.id}/unread`, {}).expect(201)).body.unreadCount).toBe(1)
      expect((await post(`/api/chats/${silent.id}/unread`, {}).expect(201)).body).toMatchObject({ unreadCount: 1, lastReadAt: null })
    })
  })
})
