import { v7 } from "uuid"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

const { acme, globex, rest, gql } = world()

const path = "/api/assistants-new"
// biome-ignore lint/suspicious/noExplicitAny: as REST shows it.
type Assistant = any
const names = (page: { data: Assistant[] }) => page.data.map(({ name }) => name)
const list = async (query = "", token = acme.token) => (await rest.as(token).get(`${path}${query}`).expect(200)).body
const folder = async (company = acme) =>
  (await gql(company.token, `mutation { createAssistantFolder(input: { name: "Sales" }) { id } }`)).data.createAssistantFolder.id as string

describe("creating an assistant", () => {
  it("stores excluded tags as they are, also those that PostgreSQL's arrays write differently", async () => {
    const excludedTags = ["null", "NULL", 'a "quoted" one', "back\\slash", "{a,b}", "two\nlines", "tab\tand\u0001", "ünï"]
    const { body } = await rest.as(acme.token).post(path, { name: "Ada", excludedTags }).expect(201)
    expect(body.excludedTags).toEqual(excludedTags)
    expect((await rest.as(acme.token).get(`${path}/${body.id}`).expect(200)).body.excludedTags).toEqual(excludedTags)
    const changed = await rest
      .as(acme.token)
      .patch(`${path}/${body.id}`, { excludedTags: ["Null"] })
      .expect(200)
    expect(changed.body.excludedTags).toEqual(["Null"])
    expect((await rest.as(acme.token).post(`${path}/${body.id}/copy`, {}).expect(201)).body.excludedTags).toEqual(["Null"])
  })

  it("needs only a name; the rest has defaults", async () => {
    const { body } = await rest.as(acme.token).post(path, { name: "  Ada  " }).expect(201)
    const { data } = await gql(acme.token, "{ textModels { id name provider } }")
    expect(body).toEqual({
      id: expect.any(String),
      companyId: acme.id,
      folderId: null,
      name: "Ada",
      prompt: "",
      greeting: null,
      handOffMessage: null,
      language: "en",
      textModelId: data.textModels[0].id,
      temperature: null,
      excludedTags: [],
      isDraft: false,
      draftOfId: null,
      vaRegistration: null,
      guardrails: expect.objectContaining({ card: { customer: "off", answer: "off" }, onBlock: "sentence", sentence: null }),
      voiceAgentStatus: "none",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
    })
  })

  it("stores every field, at its limits", async () => {
    const said = {
      companyId: acme.id,
      folderId: await folder(),
      name: "é".repeat(120),
      prompt: " p".repeat(16_000),
      greeting: "g".repeat(2_000),
      handOffMessage: "h".repeat(16_000),
      language: "pt-BR",
      textModelId: acme.assistant && (await gql(acme.token, "{ textModels { id } }")).data.textModels[0].id,
      temperature: 2,
      excludedTags: ["vip", "spam"],
      isDraft: true,
      draftOfId: acme.assistant.id,
    }
    const { body } = await rest.as(acme.token).post(path, said).expect(201)
    expect(body).toMatchObject(said)
  })

  it.each([
    ["name", ""],
    ["name", "x".repeat(121)],
    ["prompt", "x".repeat(32_001)],
    ["greeting", "x".repeat(2_001)],
    ["handOffMessage", "x".repeat(16_001)],
    ["language", "not a language"],
    ["language", ""],
    ["textModelId", v7()],
    ["temperature", 2.1],
    ["temperature", -0.1],
    ["folderId", v7()],
    ["excludedTags", [""]],
    ["draftOfId", v7()],
  ])("with a bad %s is 400 and names it", async (field, value) => {
    const { body } = await rest
      .as(acme.token)
      .post(path, { name: "Ada", isDraft: true, [field]: value })
      .expect(400)
    expect(body.details[0].path.split(".")[0]).toBe(field)
  })

  it("as a variant needs isDraft, and an original that is not a variant itself", async () => {
    const draft = await acme.makeAssistant({ isDraft: true })
    await rest.as(acme.token).post(path, { name: "Ada", draftOfId: acme.assistant.id }).expect(400)
    await rest.as(acme.token).post(path, { name: "Ada", isDraft: true, draftOfId: draft.id }).expect(400)
  })

  promised("refuses what belongs to another company", async () => {
    await rest.as(acme.token).post(path, { name: "Ada", companyId: globex.id }).expect(403)
    await rest
      .as(acme.token)
      .post(path, { name: "Ada", folderId: await folder(globex) })
      .expect(400)
    await rest.as(acme.token).post(path, { name: "Ada", isDraft: true, draftOfId: globex.assistant.id }).expect(400)
  })
})

describe("changing an assistant", () => {
  it("keeps absent fields, and clears nullable fields with null", async () => {
    const made = await acme.makeAssistant({ greeting: "Hi", temperature: 1, folderId: await folder(), prompt: "Be kind." })
    const { body: same } = await rest.as(acme.token).patch(`${path}/${made.id}`, {}).expect(200)
    expect(same).toEqual(made)
    const cleared = { greeting: null, temperature: null, folderId: null }
    const { body } = await rest.as(acme.token).patch(`${path}/${made.id}`, cleared).expect(200)
    expect(body).toEqual({ ...made, ...cleared, updatedAt: body.updatedAt })
    expect(body.updatedAt > made.updatedAt).toBe(true)
    for (const field of ["name", "prompt", "language", "textModelId", "excludedTags", "isDraft"])
      await rest
        .as(acme.token)
        .patch(`${path}/${made.id}`, { [field]: null })
        .expect(400)
    expect((await rest.as(acme.token).get(`${path}/${made.id}`)).body).toEqual(body)
  })

  it("from draft to no draft removes its original", async () => {
    const draft = await acme.makeAssistant({ isDraft: true, draftOfId: acme.assistant.id })
    await rest.as(acme.token).patch(`${path}/${draft.id}`, { isDraft: false, draftOfId: acme.assistant.id }).expect(400)
    const { body } = await rest.as(acme.token).patch(`${path}/${draft.id}`, { isDraft: false }).expect(200)
    expect(body).toMatchObject({ isDraft: false, draftOfId: null })
    const chat = await acme.chat()
    await rest.as(acme.token).patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: draft.id }).expect(200)
  })

  it("refuses bad values and foreign references", async () => {
    const { id } = await acme.makeAssistant()
    for (const body of [{ temperature: 3 }, { textModelId: v7() }, { folderId: await folder(globex) }, { draftOfId: acme.assistant.id }])
      await rest.as(acme.token).patch(`${path}/${id}`, body).expect(400)
  })
})

describe("the list of assistants", () => {
  it("is a page by the latest change, ten by default, without drafts", async () => {
    const company = globex
    const made: Assistant[] = []
    for (let count = 0; count < 11; count++) made.push(await company.makeAssistant({ name: `List ${count}` }))
    await company.makeAssistant({ name: "List draft", isDraft: true })
    await rest.as(company.token).patch(`${path}/${made[3].id}`, { name: "List 3 changed" }).expect(200)

    const first = await list("?q=LIST", company.token)
    expect(names(first)).toEqual([
      "List 3 changed",
      "List 10",
      "List 9",
      "List 8",
      "List 7",
      "List 6",
      "List 5",
      "List 4",
      "List 2",
      "List 1",
    ])
    expect(first).toMatchObject({ totalCount: 11, nextCursor: null })
    expect(names(await list("?q=list&skip=10", company.token))).toEqual(["List 0"])
    expect(names(await list("?q=list&take=2&skip=1", company.token))).toEqual(["List 10", "List 9"])
    expect(names(await list("?q=list&includeVariants=true&take=1", company.token))).toEqual(["List 3 changed"])
    expect((await list("?q=list&includeVariants=true", company.token)).totalCount).toBe(12)
    expect(names(await list("?q=%25", company.token))).toEqual([])
  })

  promised("by folder holds that folder's; the page of another company's folder is empty", async () => {
    const folderId = await folder()
    const made = await acme.makeAssistant({ folderId, name: "Filed" })
    expect((await list(`?folderId=${folderId}`)).data).toEqual([made])
    for (const id of [await folder(globex), v7()]) expect(await list(`?folderId=${id}`)).toMatchObject({ data: [], totalCount: 0 })
  })

  it("covers every company of a user, or the named one", async () => {
    const person = await acme.person()
    await globex.person("member", person)
    const companies = async (query: string) =>
      new Set((await list(`?take=100${query}`, person.jwt)).data.map((each: Assistant) => each.companyId))
    expect(await companies("")).toEqual(new Set([acme.id, globex.id]))
    expect(await companies(`&companyId=${acme.id}`)).toEqual(new Set([acme.id]))
  })
})

describe("assistant folders", () => {
  it("keep their assistants when they are deleted", async () => {
    const folderId = await folder()
    const { id } = await acme.makeAssistant({ folderId })
    const { data } = await gql(acme.token, "mutation ($id: UUID!) { deleteAssistantFolder(id: $id) { id deleted } }", { id: folderId })
    expect(data.deleteAssistantFolder).toEqual({ id: folderId, deleted: true })
    expect((await rest.as(acme.token).get(`${path}/${id}`).expect(200)).body.folderId).toBeNull()
  })

  promised("of another company cannot be changed or deleted", async () => {
    const id = await folder(globex)
    for (const call of [`updateAssistantFolder(id: $id, input: { name: "Mine" }) { id }`, "deleteAssistantFolder(id: $id) { id }"]) {
      const { errors } = await gql(acme.token, `mutation ($id: UUID!) { ${call} }`, { id })
      expect(errors![0]!.extensions.code).toBe("NOT_FOUND")
    }
  })
})

describe("text models", () => {
  it("end with the offline model, whose id never changes", async () => {
    const { data } = await gql(acme.token, "{ textModels { id name provider } }")
    expect(data.textModels.at(-1)).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5/),
      name: expect.any(String),
      provider: "offline",
    })
    expect((await gql(globex.token, "{ textModels { id } }")).data.textModels.at(-1).id).toBe(data.textModels.at(-1).id)
  })
})
