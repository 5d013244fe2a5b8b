import { v7 } from "uuid"
import { world } from "./kit/world.js"

const { acme, globex, rest } = world()

const path = "/api/assistant-knowledge-new"
const list = async (query: string) => (await rest.as(acme.token).get(`${path}?${query}`).expect(200)).body
const valid = () => ({ assistantId: acme.assistant.id, name: "Returns", kind: "text", resourceContent: " Free for 30 days. " })

describe("a knowledge item", () => {
  it("keeps its text as it was given, and shows it", async () => {
    const { body } = await rest.as(acme.token).post(path, valid()).expect(201)
    expect(body).toMatchObject({ ...valid(), id: expect.any(String), companyId: acme.id, isVector: false, chunkCount: 0 })
    const { body: shown } = await rest.as(acme.token).get(`${path}/${body.id}`).expect(200)
    expect(shown).toEqual(body)
  })

  it.each([
    ["name", ""],
    ["name", "x".repeat(201)],
    ["kind", "song"],
    ["resourceContent", ""],
    ["resourceContent", "  \n "],
    ["assistantId", v7()],
  ])("with a bad %s is 400 and names it", async (field, value) => {
    const { body } = await rest
      .as(acme.token)
      .post(path, { ...valid(), [field]: value })
      .expect(400)
    expect(body.details[0].path).toBe(field)
  })

  it("is not given to an assistant of another company", async () => {
    await rest
      .as(acme.token)
      .post(path, { ...valid(), assistantId: globex.assistant.id })
      .expect(400)
  })

  it("belongs to its assistant's company, also for a person of two", async () => {
    const person = await acme.person()
    await globex.person("member", person)
    const { body } = await rest
      .as(person.jwt)
      .post(path, { ...valid(), assistantId: globex.assistant.id })
      .expect(201)
    expect(body.companyId).toBe(globex.id)
  })

  it("changes in what is said and in nothing else", async () => {
    const made = await acme.makeKnowledge()
    const { body: renamed } = await rest.as(acme.token).patch(`${path}/${made.id}`, { name: " Refunds " }).expect(200)
    expect(renamed).toEqual({ ...made, name: "Refunds", updatedAt: renamed.updatedAt })
    const { body: rewritten } = await rest.as(acme.token).patch(`${path}/${made.id}`, { resourceContent: "No refunds." }).expect(200)
    expect(rewritten).toMatchObject({ name: "Refunds", resourceContent: "No refunds." })
    for (const body of [{ name: null }, { resourceContent: null }, { resourceContent: " " }, { name: "" }])
      await rest.as(acme.token).patch(`${path}/${made.id}`, body).expect(400)
    expect((await rest.as(acme.token).get(`${path}/${made.id}`)).body).toEqual(rewritten)
  })

  it("that was deleted is gone", async () => {
    const { id } = await acme.makeKnowledge()
    const { body } = await rest.as(acme.token).delete(`${path}/${id}`).expect(200)
    expect(body).toEqual({ id, deleted: true })
    await rest.as(acme.token).get(`${path}/${id}`).expect(404)
    await rest.as(acme.token).delete(`${path}/${id}`).expect(404)
  })
})

describe("the list of knowledge", () => {
  it("is newest first, without content, and searched by name in any case", async () => {
    const { id: assistantId } = await acme.makeAssistant()
    const made = []
    for (const name of ["Shipping", "Returns", "Ships we like"]) made.push(await acme.makeKnowledge({ assistantId, name }))
    const unseen = ({ resourceContent: _unseen, ...item }: Record<string, unknown>) => ({ ...item, resourceContent: null })
    expect(await list(`assistantId=${assistantId}`)).toEqual({ data: made.reverse().map(unseen), totalCount: 3, nextCursor: null })
    const named = async (query: string) =>
      (await list(`assistantId=${assistantId}&${query}`)).data.map((item: { name: string }) => item.name)
    expect(await named("search=SHIP")).toEqual(["Ships we like", "Shipping"])
    expect(await named("search=_")).toEqual([])
    expect(await named("skip=1&take=1")).toEqual(["Returns"])
  })

  it("of an assistant out of reach is empty", async () => {
    for (const id of [globex.assistant.id, v7()])
      expect(await list(`assistantId=${id}`)).toEqual({ data: [], totalCount: 0, nextCursor: null })
  })

  it("without an assistant holds the company's alone", async () => {
    await globex.makeKnowledge({ assistantId: globex.assistant.id })
    const { data } = await list("take=100")
    expect(data.length).toBeGreaterThan(0)
    expect(new Set(data.map((item: { companyId: string }) => item.companyId))).toEqual(new Set([acme.id]))
  })

  it("holds 20 when nothing is said", async () => {
    const { id: assistantId } = await acme.makeAssistant()
    await Promise.all(Array.from({ length: 21 }, () => acme.makeKnowledge({ assistantId })))
    const page = await list(`assistantId=${assistantId}`)
    expect([page.data.length, page.totalCount]).toEqual([20, 21])
  })
})
