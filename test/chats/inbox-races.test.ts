import { randomInt, randomUUID } from "node:crypto"
import { checkCommands } from "../../src/admin/checks.js"
import type { CommandContext } from "../../src/admin/kit.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w

const say = (chatId: string, role: string) => rest.as(acme.token).post("/api/messages", { chatId, role, text: role })

describe("the list of chats, paged by cursor", () => {
  promised("shows every unchanged chat once and none twice while messages arrive", async () => {
    const count = 5_000
    await sql(
      `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, name, last_message_at)
       select gen_random_uuid(), t, t, $1, 'olx', 'walk', n::text, t
       from generate_series(1, $2) n, lateral (select timestamptz '2026-01-01' + (n / 3) * interval '1 second' as t) at`,
      [acme.id, count],
    )
    const chats = await sql("select id, name from chat where from_id = 'walk'")
    const touchable = chats.filter((_chat, index) => index % 5 === 0).map((chat) => chat["id"] as string)
    const touched = new Set<string>()
    let walking = true
    const writers = Array.from({ length: 4 }, async () => {
      while (walking) {
        const id = touchable[randomInt(touchable.length)]!
        touched.add(id)
        await say(id, "User").expect(201)
      }
    })
    const seen: string[] = []
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { data: { id: string }[]; nextCursor: string | null } = (
        await rest.as(acme.token).get(`/api/chats?fromId=walk&take=50&withCount=false&cursor=${cursor}`).expect(200)
      ).body
      seen.push(...page.data.map((chat) => chat.id))
      cursor = page.nextCursor
    }
    walking = false
    await Promise.all(writers)

    expect(touched.size).toBeGreaterThan(50)
    expect(new Set(seen).size).toBe(seen.length)
    const untouched = chats.map((chat) => chat["id"] as string).filter((id) => !touched.has(id))
    const missing = new Set(untouched)
    for (const id of seen) missing.delete(id)
    expect([...missing]).toEqual([])
  })
})

describe("unread counters", () => {
  const wrong = () => checkCommands["check:counters"]!.run({ database: w.services.database } as CommandContext, {})

  promised("equal a recount after 2,000 random operations from 8 clients", async () => {
    const chats = await Promise.all(Array.from({ length: 10 }, () => acme.chat()))
    const operations = [
      (id: string) => say(id, "Customer"),
      (id: string) => say(id, "Customer"),
      (id: string) => say(id, "User"),
      (id: string) => rest.as(acme.token).post(`/api/chats/${id}/read`, {}),
      (id: string) => rest.as(acme.token).post(`/api/chats/${id}/unread`, {}),
    ]
    const client = async () => {
      for (let turn = 0; turn < 250; turn += 1) {
        await operations[randomInt(operations.length)]!(chats[randomInt(chats.length)]!.id).expect(201)
      }
    }
    await Promise.all(Array.from({ length: 8 }, client))
    expect(await wrong()).toEqual([])
  })

  it("that are wrong are detected by the check", async () => {
    const chat = await acme.chat()
    await sql("update chat set unread_count = 3 where id = $1", [chat.id])
    expect(await wrong()).toMatchObject([{ chatId: chat.id, unreadCount: 3, recounted: 0 }])
    await sql("update chat set unread_count = 0 where id = $1", [chat.id])
  })
})

describe("a chat that is deleted while it is written to", () => {
  promised("stores or refuses each message, and leaves no rows behind", async () => {
    const chat = await acme.chat({ messenger: "olx", fromId: "shop", externalId: randomUUID() })
    const posts = Array.from({ length: 30 }, (_, index) => say(chat.id, index % 2 ? "Customer" : "User"))
    const [gone, ...answers] = await Promise.all([rest.as(acme.token).delete(`/api/chats/${chat.id}`), ...posts])
    expect(gone!.status).toBe(200)
    for (const answer of answers) expect([201, 403]).toContain(answer.status)
    expect(await sql("select 1 from message where chat_id = $1", [chat.id])).toEqual([])
    await say(chat.id, "User").expect(403)
    // The last event of the chat is its deletion.
    const [last] = await sql("select type from event where chat_id = $1 order by id desc limit 1", [chat.id])
    expect(last!["type"]).toBe("CHAT_DELETED")
  })
})
