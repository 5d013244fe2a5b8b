import { assistantLimits } from "../../src/assistant/limits.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w
const as = () => rest.as(acme.token)
const assistant = async () => (await as().post("/api/assistants-new", { name: "Large" }).expect(201)).body.id as string
const tool = (assistantId: string, name: string, more: object = {}) =>
  as().post("/api/assistant-tools-new", {
    assistantId,
    name,
    apiCallUrl: "http://127.0.0.1:9/",
    description: "x",
    ...more,
  })
const item = (assistantId: string, more: object) =>
  as().post("/api/assistant-knowledge-new", { assistantId, name: "x", kind: "text", resourceContent: "x", ...more })
/** Copies a row of an assistant under other names. */
const copies = (table: "assistant_tool" | "knowledge", id: string, count: number) =>
  sql(
    `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'name', 'copy_' || n))).*
     from ${table} t, generate_series(1, $2) n where t.id = $1`,
    [id, count],
  )
const { assistantTools, wholeItems } = assistantLimits
const messages = (answers: { status: number; body: { message?: string } }[]) =>
  answers.filter(({ status }) => status === 400).map(({ body }) => body.message)

describe("an assistant, whose turns read all of them, has at most", () => {
  promised("200 tools, also when several are created at once", async () => {
    const id = await assistant()
    const first = (await tool(id, "first").expect(201)).body
    const [{ count }] = await sql("select count(*)::integer as count from assistant_tool where assistant_id = $1", [id])
    await copies("assistant_tool", first.id, assistantTools - count - 1)
    const answers = await Promise.all(["a", "b", "c"].map((name) => tool(id, name)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    expect(messages(answers)).toEqual(Array(2).fill("An assistant has at most 200 tools"))
    await as().patch(`/api/assistant-tools-new/${first.id}`, { description: "changed" }).expect(200)
    await as().post(`/api/assistants-new/${id}/copy`, {}).expect(201)
  })

  it("2 MB of params of its tools, which a change may not exceed either", async () => {
    const id = await assistant()
    const params = { type: "object", properties: { a: { type: "string", description: "x".repeat(60_000) } } }
    const small = (await tool(id, "small").expect(201)).body
    const many = Math.floor(assistantLimits.assistantParamsBytes / JSON.stringify(params).length)
    for (let count = 0; count < many; count += 1) await tool(id, `tool_${count}`, { params }).expect(201)
    const message = "The params of an assistant's tools have at most 2097152 bytes together"
    expect((await tool(id, "one_more", { params }).expect(400)).body.message).toBe(message)
    expect((await as().patch(`/api/assistant-tools-new/${small.id}`, { params }).expect(400)).body.message).toBe(message)
    await tool(id, "one_more").expect(201)
  })

  it("as many as it had before there was a limit: what it has may be changed, and made less", async () => {
    const id = await assistant()
    const first = (await tool(id, "first").expect(201)).body
    await copies("assistant_tool", first.id, assistantTools + 10)
    await as()
      .patch(`/api/assistant-tools-new/${first.id}`, { params: { type: "object", properties: { a: {} } } })
      .expect(200)
    expect((await tool(id, "one_more").expect(400)).body.message).toBe("An assistant has at most 200 tools")
    const whole = (await item(id, {}).expect(201)).body
    await copies("knowledge", whole.id, wholeItems + 10)
    await as().patch(`/api/assistant-knowledge-new/${whole.id}`, { name: "Renamed" }).expect(200)
    await as().patch(`/api/assistant-knowledge-new/${whole.id}`, { isVector: true }).expect(200)
    await as().patch(`/api/assistant-knowledge-new/${whole.id}`, { isVector: false }).expect(400)
  })

  it("500 knowledge items that are not searchable; others are not counted", async () => {
    const id = await assistant()
    const first = (await item(id, {}).expect(201)).body
    await copies("knowledge", first.id, wholeItems - 1)
    const message = "An assistant has at most 500 knowledge items that are not searchable: make some searchable, isVector: true"
    expect((await item(id, {}).expect(400)).body.message).toBe(message)
    const searchable = (await item(id, { isVector: true }).expect(201)).body
    expect((await as().patch(`/api/assistant-knowledge-new/${searchable.id}`, { isVector: false }).expect(400)).body.message).toBe(message)
  })

  it("a million characters of knowledge that is not searchable", async () => {
    const id = await assistant()
    const resourceContent = "x".repeat(200_000)
    for (let count = 0; count < 5; count += 1) await item(id, { resourceContent }).expect(201)
    const message = "Knowledge that is not searchable has at most 1000000 characters in an assistant: make some searchable, isVector: true"
    expect((await item(id, {}).expect(400)).body.message).toBe(message)
    await item(id, { isVector: true, resourceContent }).expect(201)
  })
})
