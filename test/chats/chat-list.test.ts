import { v7 } from "uuid"
import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex, sql, clock } = w
  const rest = bothProtocols(w)

  // biome-ignore lint/suspicious/noExplicitAny: as REST shows it.
  type Chat = any
  const ids = (chats: Chat[]) => chats.map(({ id }) => id as string)
  const list = async (query = "", credential = acme.token) => (await rest.as(credential).get(`/api/chats?${query}`).expect(200)).body
  const refused = async (query: string, credential = acme.token) => (await rest.as(credential).get(`/api/chats?${query}`).expect(400)).body

  /** Chats on a separate account, a second apart, so that a list by account holds only them. */
  async function several(count: number, fields: object = {}) {
    const fromId = v7()
    const chats: Chat[] = []
    for (let made = 0; made < count; made++) {
      clock.advance(1_000)
      chats.push(await acme.chat({ fromId, ...fields }))
    }
    return { fromId, newestFirst: ids(chats).reverse() }
  }

  /** Every page of a list by its cursors. */
  async function walk(query: string) {
    const pages: Chat[][] = []
    for (let cursor = ""; pages.length < 50; ) {
      const { data, nextCursor } = await list(`${query}&cursor=${cursor}`)
      pages.push(data)
      if (nextCursor === null) return pages
      expect(nextCursor).toMatch(/^[\w-]+$/)
      cursor = nextCursor
    }
    throw new Error("The list does not end")
  }

  describe("a page of chats", () => {
    it("holds 20 by the latest activity, with the total and the next cursor", async () => {
      const { fromId, newestFirst } = await several(21)
      const page = await list(`fromId=${fromId}`)
      expect(ids(page.data)).toEqual(newestFirst.slice(0, 20))
      expect(page).toMatchObject({ totalCount: 21, nextCursor: expect.any(String) })
      expect((await list(`fromId=${fromId}&take=21`)).nextCursor).toBeNull()
      expect(await list(`fromId=${v7()}`)).toEqual({ data: [], totalCount: 0, nextCursor: null })
    })

    it("is sorted by the last message, which System messages do not change", async () => {
      const { fromId, newestFirst } = await several(3)
      clock.advance(1_000)
      const message = await acme.message({ chatId: newestFirst[2] })
      clock.advance(1_000)
      await acme.message({ chatId: newestFirst[1], role: "System", text: "Somebody joined" })
      const page = await list(`fromId=${fromId}&include=lastMessage`)
      expect(ids(page.data)).toEqual([newestFirst[2], newestFirst[0], newestFirst[1]])
      expect(page.data[0]).toMatchObject({ lastMessageAt: message.createdAt, lastMessage: { id: message.id, text: "Hello" } })
      expect(page.data[2]).toMatchObject({ lastMessageAt: null, lastMessage: null })
      expect((await list(`fromId=${fromId}`)).data[0].lastMessage).toBeNull()
    })

    it("counts only when requested", async () => {
      const { fromId } = await several(2)
      expect(await list(`fromId=${fromId}&withCount=false`)).toMatchObject({ totalCount: null, data: [{}, {}] })
      expect((await list(`fromId=${fromId}&withCount=true`)).totalCount).toBe(2)
      await refused("withCount=no")
    })

    // A page of a frequent match is read from the start of the list; of a rare one, from all counted rows.
    it.each([
      ["DESC", 1],
      ["DESC", 22],
      ["ASC", 22],
    ])("counts the same on every page of a filtered list, and behind its end: %s, with %d others", async (order, others) => {
      const { fromId, newestFirst } = await several(5)
      await several(others)
      const wanted = order === "DESC" ? newestFirst : newestFirst.toReversed()
      const query = `fromId=${fromId}&sortOrder=${order}&take=2`
      const [first, last] = [await list(query), await list(`${query}&skip=4`)]
      const next = await list(`${query}&cursor=${first.nextCursor}`)
      expect([first, next, last].flatMap(({ data }) => ids(data))).toEqual(wanted)
      const behind = await list(`${query}&skip=6`)
      expect(behind.data).toEqual([])
      expect([first, next, last, behind].map(({ totalCount }) => totalCount)).toEqual([5, 5, 5, 5])
    })
  })

  describe("paging by cursor", () => {
    promised("returns every chat once, in both directions", async () => {
      const { fromId, newestFirst } = await several(7)
      const pages = await walk(`fromId=${fromId}&take=3`)
      expect(pages.map((page) => page.length)).toEqual([3, 3, 1])
      expect(ids(pages.flat())).toEqual(newestFirst)
      expect(ids((await walk(`fromId=${fromId}&take=2&sortOrder=ASC`)).flat())).toEqual([...newestFirst].reverse())
      expect((await walk(`fromId=${fromId}&take=7`)).map((page) => page.length)).toEqual([7])
    })

    it("sorts by id where the times are equal", async () => {
      const { fromId, newestFirst } = await several(5)
      await sql("update chat set created_at = now() where from_id = $1", [fromId])
      expect(ids((await walk(`fromId=${fromId}&take=2`)).flat())).toEqual([...newestFirst].sort().reverse())
      expect(ids((await walk(`fromId=${fromId}&take=2&sortOrder=ASC`)).flat())).toEqual([...newestFirst].sort())
    })

    promised("shows no chat twice when a message arrives in between", async () => {
      const { fromId, newestFirst } = await several(4)
      const first = await list(`fromId=${fromId}&take=2`)
      clock.advance(1_000)
      await acme.message({ chatId: newestFirst[1] })
      await acme.chat({ fromId })
      const second = await list(`fromId=${fromId}&take=2&cursor=${first.nextCursor}`)
      expect(ids(second.data)).toEqual(newestFirst.slice(2))
    })

    it("refuses a cursor that is malformed, or of another list or order", async () => {
      const { fromId, newestFirst } = await several(2)
      const { nextCursor } = await list(`fromId=${fromId}&take=1`)
      await acme.message({ chatId: newestFirst[0] })
      await acme.message({ chatId: newestFirst[0] })
      const messages = await rest.as(acme.token).get(`/api/messages?chatId=${newestFirst[0]}&take=1`).expect(200)
      const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
      const [name] = JSON.parse(Buffer.from(nextCursor, "base64url").toString())
      for (const cursor of [
        "nonsense",
        "%2B%2F",
        messages.body.nextCursor,
        forged([name]),
        forged([name, "yesterday", v7()]),
        forged([name, new Date().toISOString(), "1; drop table chat"]),
        forged({}),
      ]) {
        expect((await refused(`fromId=${fromId}&cursor=${cursor}`)).details[0].path).toBe("cursor")
      }
      await refused(`fromId=${fromId}&sortOrder=ASC&cursor=${nextCursor}`)
      await refused(`fromId=${fromId}&skip=1&cursor=${nextCursor}`)
    })
  })

  describe("paging by offset", () => {
    it("skips rows, and gives no cursor", async () => {
      const { fromId, newestFirst } = await several(4)
      const page = await list(`fromId=${fromId}&skip=1&take=2`)
      expect(ids(page.data)).toEqual(newestFirst.slice(1, 3))
      expect(page).toMatchObject({ totalCount: 4, nextCursor: null })
      expect(ids((await list(`fromId=${fromId}&skip=0&sortOrder=ASC`)).data)).toEqual([...newestFirst].reverse())
      expect((await list(`fromId=${fromId}&skip=4`)).data).toEqual([])
    })

    it("takes 1 to 100", async () => {
      await list("take=1")
      await list("take=100")
      for (const query of ["take=0", "take=101", "take=-1", "take=1e1", "skip=-1", "take="]) await refused(query)
    })
  })

  describe("conditions", () => {
    it("filter the list, each alone and together", async () => {
      const fromId = v7()
      const of = (fields: object) => acme.chat({ fromId, ...fields })
      const olx = await of({ messenger: "telegram", sourceChannel: "olx" })
      const managed = await of({ managerId: acme.member.id })
      const answered = await of({ assistantId: acme.assistant.id })
      const unread = await of({})
      await acme.message({ chatId: unread.id, role: "Customer" })
      const found = async (query: string, credential = acme.token) =>
        new Set(ids((await list(`fromId=${fromId}&${query}`, credential)).data))
      const only = (...chats: Chat[]) => new Set(ids(chats))

      expect(await found("messenger=telegram")).toEqual(only(olx))
      expect(await found("sourceChannel=olx")).toEqual(only(olx))
      expect(await found(`managerId=${acme.member.id.toUpperCase()}`)).toEqual(only(managed))
      expect(await found("managerId=me", acme.member.jwt)).toEqual(only(managed))
      expect(await found("managerId=me", acme.owner.jwt)).toEqual(only())
      expect(await found("managerId=null")).toEqual(only(olx, answered, unread))
      expect(await found(`assistantId=${acme.assistant.id}`)).toEqual(only(answered))
      expect(await found("isUnderAiControl=true")).toEqual(only(answered))
      expect(await found("isUnderAiControl=false")).toEqual(only(olx, managed, unread))
      expect(await found("unread=true")).toEqual(only(unread))
      expect(await found("unread=false")).toEqual(only(olx, managed, answered))
      expect(await found("unread=false&managerId=null&messenger=playground")).toEqual(only(answered))
      expect((await list(`fromId=${fromId}&unread=false`)).totalCount).toBe(3)
    })

    promised("with a missing or foreign id find nothing", async () => {
      for (const id of [v7(), globex.assistant.id]) expect((await list(`assistantId=${id}`)).data).toEqual([])
      expect((await list(`managerId=${globex.owner.id}`)).data).toEqual([])
    })

    it("that are malformed are 400", async () => {
      for (const query of [
        "messenger=fax",
        "messenger=TELEGRAM",
        "unread=1",
        "isUnderAiControl=yes",
        "managerId=nobody",
        "sortOrder=asc",
        "sortBy=name",
      ])
        expect((await refused(query)).details[0].path).toBe(query.split("=")[0])
      expect((await refused("managerId=me")).message).toMatch(/access token/)
      for (const include of ["all", "lastMessage,messages", "lastMessage,"])
        await w.rest.as(acme.token).get(`/api/chats?include=${include}`).expect(400)
    })
  })
})
