import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { append } from "../../src/messages/append.js"
import { bothProtocols } from "../kit/both-protocols.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme } = w
  const rest = bothProtocols(w)

  // biome-ignore lint/suspicious/noExplicitAny: as REST shows it.
  type Message = any
  const places = (messages: Message[]) => messages.map(({ sequence }) => sequence as number)
  const downFrom = (top: number, to: number) => Array.from({ length: top - to + 1 }, (_, index) => top - index)
  const list = async (query: string) => (await rest.as(acme.token).get(`/api/messages?${query}`).expect(200)).body
  const refused = (query: string) => rest.as(acme.token).get(`/api/messages?${query}`).expect(400)

  async function talk(count: number) {
    const { id } = await acme.chat()
    for (let made = 0; made < count; made++) await acme.message({ chatId: id, text: `${made + 1}` })
    return id as string
  }

  describe("the messages of a chat", () => {
    it("are all returned on REST, newest first, without paging parameters", async () => {
      const chatId = await talk(105)
      const { body: page } = await w.rest.as(acme.token).get(`/api/messages?chatId=${chatId}`).expect(200)
      expect(places(page.data)).toEqual(downFrom(105, 1))
      expect(page).toMatchObject({ totalCount: 105, nextCursor: null })
    })

    it("are paged by cursor, 30 by default", async () => {
      const chatId = await talk(35)
      const first = await list(`chatId=${chatId}&take=2`)
      expect(places(first.data)).toEqual([35, 34])
      const second = await list(`chatId=${chatId}&cursor=${first.nextCursor}`)
      expect(places(second.data)).toEqual(downFrom(33, 4))
      const third = await list(`chatId=${chatId}&cursor=${second.nextCursor}&take=100`)
      expect(places(third.data)).toEqual([3, 2, 1])
      expect([first.totalCount, third.nextCursor]).toEqual([35, null])
    })

    it("keep their pages while new ones arrive", async () => {
      const chatId = await talk(4)
      const first = await list(`chatId=${chatId}&take=2`)
      await acme.message({ chatId })
      expect(places((await list(`chatId=${chatId}&take=2&cursor=${first.nextCursor}`)).data)).toEqual([2, 1])
    })

    it("are paged by offset, without a cursor", async () => {
      const chatId = await talk(5)
      const page = await list(`chatId=${chatId}&skip=1&take=2`)
      expect(places(page.data)).toEqual([4, 3])
      expect(page).toMatchObject({ totalCount: 5, nextCursor: null })
      expect(places((await list(`chatId=${chatId}&skip=4`)).data)).toEqual([1])
      expect((await list(`chatId=${chatId}&skip=5`)).data).toEqual([])
    })

    it("refuse a cursor of another chat or list, a malformed one, and one beside skip", async () => {
      const [chatId, other] = [await talk(3), await talk(3)]
      const { nextCursor } = await list(`chatId=${chatId}&take=1`)
      const chats = await rest.as(acme.token).get("/api/chats?take=1").expect(200)
      for (const query of [
        `chatId=${other}&cursor=${nextCursor}`,
        `chatId=${chatId}&cursor=${chats.body.nextCursor}`,
        `chatId=${chatId}&cursor=nonsense`,
        `chatId=${chatId}&cursor=${nextCursor}&skip=1`,
      ])
        expect((await refused(query)).body.details[0].path).toBe("cursor")
      for (const bad of ["take=0", "take=101", "skip=-1"]) await refused(`chatId=${chatId}&${bad}`)
    })

    it("include the tool frames of the assistant, which count neither as last message nor as unread", async () => {
      const chatId = await talk(1)
      const callId = v7()
      await systemContext(w.services, acme.id).transaction(async (tx) => {
        const frame = { chatId, role: "Assistant" } as const
        const functionCall = { callId, name: "lookUp", arguments: { order: 5 } }
        const functionCallOutput = { callId, output: { found: true }, status: "success" } as const
        await append(tx.unit, { ...frame, type: "FunctionCall", functionCall })
        await append(tx.unit, { ...frame, type: "FunctionCallOutput", functionCallOutput })
      })
      const frames = [
        {
          sequence: 3,
          type: "FunctionCallOutput",
          functionCall: null,
          functionCallOutput: { callId, output: { found: true }, status: "success" },
        },
        { sequence: 2, type: "FunctionCall", functionCall: { callId, name: "lookUp", arguments: { order: 5 } }, functionCallOutput: null },
        { sequence: 1, type: "Text", functionCall: null, functionCallOutput: null },
      ]
      expect(await list(`chatId=${chatId}&take=3`)).toMatchObject({ data: frames, totalCount: 3 })
      expect((await w.rest.as(acme.token).get(`/api/messages?chatId=${chatId}`).expect(200)).body).toMatchObject({
        data: frames,
        totalCount: 3,
      })
      const chats = (await rest.as(acme.token).get("/api/chats?include=lastMessage&take=1").expect(200)).body.data
      expect(chats).toMatchObject([{ id: chatId, unreadCount: 0, lastMessage: { sequence: 1, type: "Text" } }])
    })

    it("are not counted unless requested", async () => {
      const chatId = await talk(2)
      expect(await list(`chatId=${chatId}&take=1&withCount=false`)).toMatchObject({ totalCount: null, nextCursor: expect.any(String) })
      const { body } = await w.rest.as(acme.token).get(`/api/messages?chatId=${chatId}&withCount=false`).expect(200)
      expect(body).toMatchObject({ totalCount: null, data: [{ sequence: 2 }, { sequence: 1 }] })
    })

    it("of an empty chat are none", async () => {
      expect(await list(`chatId=${await talk(0)}`)).toEqual({ data: [], totalCount: 0, nextCursor: null })
    })
  })
})
