import { v7 } from "uuid"
import { samples, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql } = w

const path = "/api/assistant-knowledge-new"
const list = async (query: string) => (await rest.as(acme.token).get(`${path}?${query}`).expect(200)).body
/** Without the address of its file, whose signature differs each time. */
const unsigned = ({ file, ...item }: Record<string, unknown>) => ({ ...item, file: file && { ...file, url: null } })
const shownOf = async (id: string) => unsigned((await rest.as(acme.token).get(`${path}/${id}`).expect(200)).body)
const fields = <T extends object>(more: T) => ({ assistantId: acme.assistant.id, name: "Returns", ...more })
const valid = () => fields({ kind: "text", resourceContent: " Free for 30 days. " })

const url = "https://example.com/returns"
const kinds = {
  text: { kind: "text", resourceContent: "Free for 30 days." },
  url: { kind: "url", resourceUrl: url },
  file: { kind: "file", fileId: "" },
}
beforeAll(async () => {
  await stopScheduler(w)
  kinds.file.fileId = (await upload(w, acme.token, samples.txt, "notes.txt").expect(201)).body.id
})

describe("a knowledge item", () => {
  it("stores its text unchanged, and shows it", async () => {
    const { body } = await rest.as(acme.token).post(path, valid()).expect(201)
    expect(body).toEqual({
      ...valid(),
      id: expect.any(String),
      companyId: acme.id,
      resourceUrl: null,
      fileId: null,
      file: null,
      isVector: false,
      chunkSize: 1000,
      chunkOverlap: 150,
      indexStatus: null,
      indexError: null,
      chunkCount: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const { body: shown } = await rest.as(acme.token).get(`${path}/${body.id}`).expect(200)
    expect(shown).toEqual(body)
  })

  it("of a page is always searchable, and pending", async () => {
    for (const isVector of [undefined, false, true]) {
      const { body } = await rest
        .as(acme.token)
        .post(path, { ...fields(kinds.url), isVector })
        .expect(201)
      expect(body).toMatchObject({
        kind: "url",
        resourceUrl: url,
        resourceContent: null,
        isVector: true,
        indexStatus: "pending",
        chunkCount: 0,
      })
    }
  })

  it("of a file shows the file; if searchable it is pending, else it has its text at once", async () => {
    const { body: searched } = await rest
      .as(acme.token)
      .post(path, { ...fields(kinds.file), isVector: true })
      .expect(201)
    expect(searched).toMatchObject({ ...kinds.file, isVector: true, indexStatus: "pending", resourceContent: null })
    expect(searched.file).toMatchObject({ id: kinds.file.fileId, filename: "notes.txt", mimeType: "text/plain", url: expect.any(String) })
    const { body: given } = await rest.as(acme.token).post(path, fields(kinds.file)).expect(201)
    expect(given).toMatchObject({ isVector: false, indexStatus: null, resourceContent: "Grüße\tand\nlines 🎈" })
  })

  it("is the same over GraphQL", async () => {
    const selected =
      "id kind resourceContent resourceUrl fileId file { filename } isVector chunkSize chunkOverlap indexStatus indexError chunkCount"
    const create = `mutation ($input: CreateKnowledgeItemInput!) { createKnowledgeItem(input: $input) { ${selected} } }`
    const input = { ...fields(kinds.file), kind: "FILE", isVector: true, chunkSize: 500, chunkOverlap: 50 }
    const { createKnowledgeItem: made } = (await gql(acme.token, create, { input })).data
    expect(made).toEqual({
      id: expect.any(String),
      kind: "FILE",
      resourceContent: null,
      resourceUrl: null,
      fileId: kinds.file.fileId,
      file: { filename: "notes.txt" },
      isVector: true,
      chunkSize: 500,
      chunkOverlap: 50,
      indexStatus: "PENDING",
      indexError: null,
      chunkCount: 0,
    })
    expect(
      (await gql(acme.token, `query ($id: UUID!) { knowledgeItem(id: $id) { ${selected} } }`, { id: made.id })).data.knowledgeItem,
    ).toEqual(made)
    const update =
      "mutation ($id: UUID!, $input: UpdateKnowledgeItemInput!) { updateKnowledgeItem(id: $id, input: $input) { name indexStatus } }"
    const { updateKnowledgeItem: renamed } = (await gql(acme.token, update, { id: made.id, input: { name: "Notes" } })).data
    expect(renamed).toEqual({ name: "Notes", indexStatus: "PENDING" })
    const remove = "mutation ($id: UUID!) { deleteKnowledgeItem(id: $id) { id deleted } }"
    expect((await gql(acme.token, remove, { id: made.id })).data.deleteKnowledgeItem).toEqual({ id: made.id, deleted: true })
    const list = "query { knowledgeItems(take: 100) { nodes { id resourceContent file { id } } totalCount } }"
    const { nodes } = (await gql(acme.token, list)).data.knowledgeItems
    expect(nodes.map((item: { id: string }) => item.id)).not.toContain(made.id)
    expect(new Set(nodes.map((item: { resourceContent: null }) => item.resourceContent))).toEqual(new Set([null]))
  })

  it("that changes twice in one request is shown after each change", async () => {
    const { id } = await acme.makeKnowledge()
    const change = (name: string) => `${name}: updateKnowledgeItem(id: "${id}", input: { name: "${name}" }) { name }`
    const { data } = await gql(acme.token, `mutation { ${change("first")} ${change("second")} }`)
    expect(data).toEqual({ first: { name: "first" }, second: { name: "second" } })
  })

  it.each([
    ["name", ""],
    ["name", "x".repeat(201)],
    ["kind", "song"],
    ["kind", null],
    ["resourceContent", ""],
    ["resourceContent", "  \n "],
    ["resourceContent", null],
    ["resourceContent", "x".repeat(200_001)],
    ["assistantId", v7()],
    ["chunkSize", 199],
    ["chunkSize", 4001],
    ["chunkOverlap", -1],
    ["chunkOverlap", 501],
    ["resourceUrl", url],
    ["fileId", v7()],
  ])("with a bad %s is 400 and names it", async (field, value) => {
    const { body } = await rest
      .as(acme.token)
      .post(path, { ...valid(), [field]: value })
      .expect(400)
    expect(body.details[0].path).toBe(field)
  })

  it.each([
    ["nothing", ""],
    ["a bare name", "example.com"],
    ["another protocol", "ftp://example.com/x"],
    ["a script", "javascript:alert(1)"],
    ["credentials", "https://me:secret@example.com/"],
    ["too much", `https://example.com/${"x".repeat(2_049)}`],
    ["a number", 7],
  ])("is not read from %s", async (_what, resourceUrl) => {
    const { body } = await rest
      .as(acme.token)
      .post(path, { ...fields(kinds.url), resourceUrl })
      .expect(400)
    expect(body.details[0].path).toBe("resourceUrl")
  })

  it.each([
    ["text", "resourceContent"],
    ["url", "resourceUrl"],
    ["file", "fileId"],
  ] as const)("of kind %s needs its %s, and takes no other's", async (kind, own) => {
    const whole = fields(kinds[kind])
    const { [own]: _without, ...without } = whole as Record<string, unknown>
    const { body: missing } = await rest.as(acme.token).post(path, without).expect(400)
    expect(missing.details[0]).toEqual({ path: own, message: `is required for a ${kind} item` })
    for (const other of Object.values(kinds)) {
      if (other.kind === kind) continue
      const { kind: _kind, ...foreign } = other
      const { body } = await rest
        .as(acme.token)
        .post(path, { ...whole, ...foreign })
        .expect(400)
      expect(body.details[0]).toEqual({ path: Object.keys(foreign)[0], message: `is not for a ${kind} item` })
      const nothing = Object.fromEntries(Object.keys(foreign).map((name) => [name, null]))
      await rest
        .as(acme.token)
        .post(path, { ...whole, ...nothing })
        .expect(201)
    }
  })

  it("may be as long as a body when it is searchable", async () => {
    const long = { ...valid(), resourceContent: "Grüße ".repeat(80_000) }
    await rest.as(acme.token).post(path, long).expect(400)
    const { body } = await rest
      .as(acme.token)
      .post(path, { ...long, isVector: true })
      .expect(201)
    const { body: refused } = await rest.as(acme.token).patch(`${path}/${body.id}`, { isVector: false }).expect(400)
    expect(refused.details[0]).toMatchObject({ path: "resourceContent", message: expect.stringMatching(/more than 200000 characters/) })
    await rest.as(acme.token).delete(`${path}/${body.id}`).expect(200)
  })

  it("has a default overlap that matches its chunk size", async () => {
    for (const [chunkSize, chunkOverlap] of [
      [200, 100],
      [250, 125],
      [300, 150],
      [4_000, 150],
    ]) {
      const { body } = await rest
        .as(acme.token)
        .post(path, { ...valid(), chunkSize })
        .expect(201)
      expect(body).toMatchObject({ chunkSize, chunkOverlap })
    }
  })

  promised("cannot belong to an assistant of another company", async () => {
    await rest
      .as(acme.token)
      .post(path, { ...valid(), assistantId: globex.assistant.id })
      .expect(400)
  })

  it("belongs to its assistant's company, also for a user of two", async () => {
    const person = await acme.person()
    await globex.person("member", person)
    const { body } = await rest
      .as(person.jwt)
      .post(path, { ...valid(), assistantId: globex.assistant.id })
      .expect(201)
    expect(body.companyId).toBe(globex.id)
  })

  it("changes only the given fields", async () => {
    const made = await acme.makeKnowledge()
    const { body: renamed } = await rest.as(acme.token).patch(`${path}/${made.id}`, { name: " Refunds " }).expect(200)
    expect(renamed).toEqual({ ...made, name: "Refunds", updatedAt: renamed.updatedAt })
    const { body: rewritten } = await rest.as(acme.token).patch(`${path}/${made.id}`, { resourceContent: "No refunds." }).expect(200)
    expect(rewritten).toMatchObject({ name: "Refunds", resourceContent: "No refunds." })
    for (const body of [{ name: null }, { resourceContent: null }, { resourceContent: " " }, { name: "" }])
      await rest.as(acme.token).patch(`${path}/${made.id}`, body).expect(400)
    expect((await rest.as(acme.token).get(`${path}/${made.id}`)).body).toEqual(rewritten)
  })

  it.each([
    ["text", { resourceUrl: url }, "resourceUrl"],
    ["text", { fileId: v7() }, "fileId"],
    ["text", { resourceContent: null }, "resourceContent"],
    ["url", { resourceContent: "Now a text." }, "resourceContent"],
    ["url", { resourceUrl: null }, "resourceUrl"],
    ["url", { resourceUrl: "nowhere" }, "resourceUrl"],
    ["file", { resourceUrl: url }, "resourceUrl"],
    ["file", { resourceContent: "Now a text." }, "resourceContent"],
    ["file", { fileId: null }, "fileId"],
    ["file", { fileId: v7() }, "fileId"],
    ["text", { isVector: null }, "isVector"],
    ["text", { chunkSize: null }, "chunkSize"],
    ["text", { chunkSize: 100 }, "chunkSize"],
    ["text", { chunkSize: 200 }, "chunkOverlap"],
    ["text", { chunkOverlap: null }, "chunkOverlap"],
    ["text", { chunkOverlap: 501 }, "chunkOverlap"],
  ] as const)("of kind %s does not take %j, and stays as it is", async (kind, change, field) => {
    const { body: made } = await rest
      .as(acme.token)
      .post(path, { ...fields(kinds[kind]), isVector: true })
      .expect(201)
    const { body } = await rest.as(acme.token).patch(`${path}/${made.id}`, change).expect(400)
    expect(body.details[0].path).toBe(field)
    expect(await shownOf(made.id)).toEqual(unsigned(made))
  })

  it("never changes its kind", async () => {
    const made = await acme.makeKnowledge()
    const { body } = await rest.as(acme.token).patch(`${path}/${made.id}`, { kind: "url", name: "Still a text" }).expect(200)
    expect(body).toMatchObject({ kind: "text", name: "Still a text" })
  })

  it("of a page is pending again for another address, and for the same", async () => {
    const { body: made } = await rest.as(acme.token).post(path, fields(kinds.url)).expect(201)
    await w.sql("update knowledge set index_status = 'failed', index_error = 'Gone', index_due_at = null where id = $1", [made.id])
    const { body: again } = await rest.as(acme.token).patch(`${path}/${made.id}`, { resourceUrl: url }).expect(200)
    expect(again).toMatchObject({ indexStatus: "pending", indexError: null })
    const { body: moved } = await rest
      .as(acme.token)
      .patch(`${path}/${made.id}`, { resourceUrl: `${url}/2`, isVector: false })
      .expect(200)
    expect(moved).toMatchObject({ resourceUrl: `${url}/2`, isVector: true, indexStatus: "pending" })
  })

  it("that was deleted does not exist", async () => {
    const { id } = await acme.makeKnowledge()
    const { body } = await rest.as(acme.token).delete(`${path}/${id}`).expect(200)
    expect(body).toEqual({ id, deleted: true })
    await rest.as(acme.token).get(`${path}/${id}`).expect(404)
    await rest.as(acme.token).delete(`${path}/${id}`).expect(404)
  })
})

describe("the list of knowledge", () => {
  it("is newest first, without content, and searched by name ignoring case", async () => {
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

  it("without an assistant holds all of the company", async () => {
    await globex.makeKnowledge({ assistantId: globex.assistant.id })
    const { data } = await list("take=100")
    expect(data.length).toBeGreaterThan(0)
    expect(new Set(data.map((item: { companyId: string }) => item.companyId))).toEqual(new Set([acme.id]))
  })

  it("holds 20 by default", async () => {
    const { id: assistantId } = await acme.makeAssistant()
    await Promise.all(Array.from({ length: 21 }, () => acme.makeKnowledge({ assistantId })))
    const page = await list(`assistantId=${assistantId}`)
    expect([page.data.length, page.totalCount]).toEqual([20, 21])
  })
})
