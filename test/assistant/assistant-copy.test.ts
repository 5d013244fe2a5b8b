import supertest from "supertest"
import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { clock } from "../../src/entities/kit/clock.js"
import { searchChunks } from "../../src/knowledge/search.js"
import { blockWrites } from "../kit/blocked-writes.js"
import { headersOf } from "../kit/clients.js"
import { startFakeEmbeddings } from "../kit/fake-embeddings.js"
import { forgetFiles, pathOf, upload } from "../kit/files.js"
import { indexAll, knowledgeOf, paragraphs } from "../kit/knowledge.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const vendor = await startFakeEmbeddings()
afterAll(() => vendor.close())

const w = world({ EMBEDDING_BASE_URL: vendor.url, EMBEDDING_MODEL: "letters" })
const { acme, globex, rest, gql, sql } = w
const { look: lookAtItem, change: changeItem, remove: removeItem, chunks } = knowledgeOf(w)
const path = "/api/assistants-new"
// biome-ignore lint/suspicious/noExplicitAny: as REST shows it.
type Resource = any

beforeAll(() => stopScheduler(w))

const copy = async ({ id }: { id: string }, body: object = {}): Promise<Resource> =>
  (await rest.as(acme.token).post(`${path}/${id}/copy`, body).expect(201)).body
const tools = async ({ id }: { id: string }): Promise<Resource[]> =>
  (await rest.as(acme.token).get(`/api/assistant-tools-new?assistantId=${id}&take=100`).expect(200)).body.data
const items = async ({ id }: { id: string }): Promise<Resource[]> =>
  (await rest.as(acme.token).get(`/api/assistant-knowledge-new?assistantId=${id}&take=100`).expect(200)).body.data
const know = ({ id }: { id: string }, fields: object) => acme.makeKnowledge({ assistantId: id, ...fields })
const searchable = (assistant: { id: string }, texts: string[], more: object = {}) =>
  know(assistant, { resourceContent: texts.join("\n\n"), isVector: true, chunkSize: 200, chunkOverlap: 0, ...more })
const nameless = ({ id: _id, assistantId: _owner, createdAt: _made, updatedAt: _changed, ...rest }: Resource) => rest
const countOf = async () => (await sql("select count(*)::int as count from assistant where company_id = $1", [acme.id]))[0].count

describe("the copy of an assistant", () => {
  it("has its settings under a new name, over both protocols", async () => {
    const folder = await gql(acme.token, `mutation { createAssistantFolder(input: { name: "Sales" }) { id } }`)
    const source = await acme.makeAssistant({
      folderId: folder.data.createAssistantFolder.id,
      name: "Ada",
      prompt: "Be kind.",
      greeting: "Hello",
      handOffMessage: "A colleague will answer.",
      language: "pt-BR",
      temperature: 0.5,
      excludedTags: ["VIP", "spam"],
    })
    const made = await copy(source)
    const { id, createdAt, updatedAt, ...settings } = made
    expect(settings).toEqual({ ...nameless(source), name: "Ada (copy)" })
    expect([id === source.id, createdAt > source.createdAt, updatedAt === createdAt]).toEqual([false, true, true])
    expect((await rest.as(acme.token).get(`${path}/${id}`).expect(200)).body).toEqual(made)
    const mutation = `mutation ($id: UUID!) { copyAssistant(id: $id, input: { name: " Bea " }) { name prompt folderId companyId } }`
    const { data } = await gql(acme.token, mutation, { id: source.id })
    expect(data.copyAssistant).toEqual({ name: "Bea", prompt: "Be kind.", folderId: source.folderId, companyId: acme.id })
  })

  it.each([
    ["x".repeat(120), `${"x".repeat(113)} (copy)`],
    ["😀".repeat(120), `${"😀".repeat(113)} (copy)`],
    [`${"x".repeat(112)} yyyyyyy`, `${"x".repeat(112)} (copy)`],
    ["x".repeat(113), `${"x".repeat(113)} (copy)`],
  ])("has room for its name (%#)", async (name, copied) => {
    expect((await copy(await acme.makeAssistant({ name }), { name: null })).name).toBe(copied)
  })

  it("of a draft is a draft of the same assistant", async () => {
    const draft = await acme.makeAssistant({ isDraft: true, draftOfId: acme.assistant.id })
    expect(await copy(draft)).toMatchObject({ isDraft: true, draftOfId: acme.assistant.id })
  })

  it("leaves the chats with its source", async () => {
    const source = await acme.makeAssistant()
    const chat = await acme.chat({ assistantId: source.id })
    const { id } = await copy(source)
    expect((await rest.as(acme.token).get(`/api/chats?assistantId=${id}`).expect(200)).body.totalCount).toBe(0)
    expect((await rest.as(acme.token).get(`/api/chats/${chat.id}`)).body).toMatchObject({ assistantId: source.id, isUnderAiControl: true })
  })

  promised("cannot be made of another company's assistant or of a missing one", async () => {
    for (const id of [globex.assistant.id, v7()]) {
      await rest.as(acme.token).post(`${path}/${id}/copy`, {}).expect(404)
      const { errors } = await gql(acme.token, "mutation ($id: UUID!) { copyAssistant(id: $id, input: {}) { id } }", { id })
      expect(errors![0]!.extensions).toMatchObject({ code: "NOT_FOUND" })
    }
  })

  it.each([{ name: "" }, { name: "x".repeat(121) }, { name: 7 }, { vaRegistration: {} }, { vaRegistration: { provider: "elevenlabs" } }])(
    "is not made with %p",
    async (body) => {
      const before = await countOf()
      await rest.as(acme.token).post(`${path}/${acme.assistant.id}/copy`, body).expect(400)
      expect(await countOf()).toBe(before)
    },
  )
})

describe("the voice of a copy", () => {
  const registration = { provider: "simulated", voiceId: "calm", phoneNumber: "+380441234567", interruptible: false }

  it("is that of its source, with a separate agent", async () => {
    const source = await acme.makeAssistant({ vaRegistration: registration })
    await sql(
      "update assistant set voice_agent_status = 'ready', voice_agent_provider = 'simulated', voice_agent_id = 'theirs', voice_due_at = null where id = $1",
      [source.id],
    )
    const made = await copy(source)
    expect(made).toMatchObject({ vaRegistration: source.vaRegistration, voiceAgentStatus: "provisioning" })
    const [row] = await sql("select voice_agent_id, voice_agent_provider, voice_due_at from assistant where id = $1", [made.id])
    expect(row).toEqual({ voice_agent_id: null, voice_agent_provider: null, voice_due_at: expect.anything() })
  })

  it("is another one, or none, when that is requested", async () => {
    const source = await acme.makeAssistant({ vaRegistration: registration })
    const switched = await copy(source, { vaRegistration: { provider: "simulated", maxDurationSeconds: 60 } })
    expect(switched.vaRegistration).toMatchObject({ voiceId: null, maxDurationSeconds: 60 })
    expect(await copy(source, { vaRegistration: null })).toMatchObject({ vaRegistration: null, voiceAgentStatus: "none" })
    const silent = await acme.makeAssistant()
    expect(await copy(silent, { vaRegistration: registration })).toMatchObject({ voiceAgentStatus: "provisioning" })
  })

  it("cannot be that of its source when the provider is no longer configured", async () => {
    const source = await acme.makeAssistant({ vaRegistration: registration })
    await sql(`update assistant set va_registration = va_registration || '{"provider": "gone"}' where id = $1`, [source.id])
    const before = await countOf()
    const { body } = await rest.as(acme.token).post(`${path}/${source.id}/copy`, {}).expect(400)
    expect(body.details[0].path).toBe("vaRegistration.provider")
    expect(await countOf()).toBe(before)
    await copy(source, { vaRegistration: null })
  })
})

describe("the tools of a copy", () => {
  it("are those of its source in the same order, with their switches", async () => {
    const source = await acme.makeAssistant()
    for (const name of ["orders", "stock", "prices"]) await acme.tool({ assistantId: source.id, name, disabled: name === "stock" })
    const search = (await tools(source)).find(({ name }) => name === "searchKnowledge")
    await rest.as(acme.token).patch(`/api/assistant-tools-new/${search.id}`, { disabled: true }).expect(200)
    const [theirs, made] = [await tools(source), await tools(await copy(source))]
    expect(made).toHaveLength(7)
    expect(made.map(nameless)).toEqual(theirs.map(nameless))
    const ids = new Set([...theirs, ...made].map(({ id }) => id))
    expect(ids.size).toBe(14)
  })

  it("sign with the same secret, and have a separate log", async () => {
    const endpoint = await receiver()
    const source = await acme.makeAssistant()
    const theirs = await acme.tool({
      assistantId: source.id,
      name: "orders",
      apiCallUrl: endpoint.url,
      webhookSecret: "a secret of the shop",
    })
    const test = (id: string) => rest.as(acme.token).post(`/api/assistant-tools-new/${id}/test`, { params: {} }).expect(201)
    const log = async (id: string) => (await rest.as(acme.token).get(`/api/assistant-tools-new/${id}/logs`).expect(200)).body
    await test(theirs.id)
    const made = (await tools(await copy(source))).find(({ name }) => name === "orders")
    expect([made.hasWebhookSecret, (await log(made.id)).stats.total]).toEqual([true, 0])
    await test(made.id)
    const [first, second] = endpoint.requests.map(({ headers }) => [headers["authorization"], headers["x-signature"]])
    expect(second).toEqual(first)
    expect(first![0]).toBe("Basic a secret of the shop")
    expect([(await log(made.id)).stats.total, (await log(theirs.id)).stats.total]).toEqual([1, 1])
    await endpoint.close()
  })
})

describe("the knowledge of a copy", () => {
  const search = async (assistant: { id: string }, query: string) => {
    const [vector] = await w.services.embedding.embed([query], new AbortController().signal)
    return (await searchChunks(systemContext(w.services, acme.id), assistant.id, query, vector!, 5)).matches
  }

  it("is that of its source, in the same order, with the same texts", async () => {
    const source = await acme.makeAssistant()
    for (const name of ["Hours", "Returns", "Delivery"]) await know(source, { name, resourceContent: `About ${name}.` })
    const made = await copy(source)
    expect((await items(made)).map(nameless)).toEqual((await items(source)).map(nameless))
    expect(await lookAtItem((await items(made))[0].id)).toMatchObject({ assistantId: made.id, resourceContent: "About Delivery." })
  })

  it("is searchable at once with the same vectors; nothing is embedded again", async () => {
    const source = await acme.makeAssistant()
    const texts = [...paragraphs(4, "Lamps"), ...paragraphs(1, "Zebras")]
    const item = await searchable(source, texts, { name: "Lamps" })
    await indexAll(w)
    vendor.requests.length = 0
    const made = await copy(source)
    const [known] = await items(made)
    expect(known).toMatchObject({ name: "Lamps", isVector: true, indexStatus: "indexed", chunkCount: 5, chunkSize: 200 })
    const [theirs, own] = [await chunks(item.id), await chunks(known.id)]
    const asSaid = ({ id: _id, ...chunk }: Resource) => chunk
    expect(own.map(asSaid)).toEqual(theirs.map(asSaid))
    expect(new Set([...theirs, ...own].map(({ id }) => id)).size).toBe(10)
    const [{ same }] = await sql(
      `select count(*)::int as same from knowledge_chunk a join knowledge_chunk b using (position, content_hash, embedding)
       where a.knowledge_id = $1 and b.knowledge_id = $2 and a.generation <> b.generation`,
      [item.id, known.id],
    )
    expect(same).toBe(5)
    await indexAll(w)
    expect(vendor.requests).toEqual([])

    const found = await search(made, "zebras")
    expect(found[0]).toMatchObject({ knowledgeId: known.id, knowledgeName: "Lamps", position: 4, chunkId: own[4].id })
    expect(found.every(({ knowledgeId }) => knowledgeId === known.id)).toBe(true)
    expect((await search(source, "zebras")).every(({ knowledgeId }) => knowledgeId === item.id)).toBe(true)
    // The full text of a chunk holds the assistant's id: in the copy it is the same as after indexing.
    const words = await sql("select tsv::text from knowledge_chunk where knowledge_id = $1 order by position", [known.id])
    for (const resourceContent of ["Something else.", texts.join("\n\n")]) {
      await changeItem(known.id, { resourceContent })
      await indexAll(w)
    }
    expect(words).toHaveLength(5)
    expect(await sql("select tsv::text from knowledge_chunk where knowledge_id = $1 order by position", [known.id])).toEqual(words)
  })

  it("is independent: a change of one does not affect the other", async () => {
    const source = await acme.makeAssistant()
    const item = await searchable(source, paragraphs(3, "Chairs"))
    await indexAll(w)
    const made = await copy(source)
    const [known] = await items(made)
    await removeItem(item.id)
    expect(await chunks(known.id)).toHaveLength(3)
    expect((await search(made, "Chairs")).length).toBeGreaterThan(0)
    const again = await copy(made)
    await changeItem(known.id, { resourceContent: "Nothing about furniture.", chunkSize: 200 })
    await indexAll(w)
    expect(await chunks((await items(again))[0].id)).toHaveLength(3)
    await rest.as(acme.token).delete(`${path}/${made.id}`).expect(200)
    expect(await chunks((await items(again))[0].id)).toHaveLength(3)
  })

  it("is indexed for it too when it was not yet; an item that could not be indexed has the reason", async () => {
    const source = await acme.makeAssistant()
    await searchable(source, paragraphs(2, "Tables"), { name: "Waiting" })
    const failed = await searchable(source, paragraphs(2, "Sofas"), { name: "Failed" })
    const fail = "update knowledge set index_status = 'failed', index_error = 'No such page', index_due_at = null where id = $1"
    await sql(fail, [failed.id])
    const made = await copy(source)
    const known = () => items(made)
    const states = async () =>
      (await known()).map(({ name, indexStatus, indexError, chunkCount }) => [name, indexStatus, indexError, chunkCount])
    expect(await states()).toEqual([
      ["Failed", "failed", "No such page", 0],
      ["Waiting", "pending", null, 0],
    ])
    await indexAll(w)
    expect(await states()).toEqual([
      ["Failed", "failed", "No such page", 0],
      ["Waiting", "indexed", null, 2],
    ])
  })

  it("shares a file with its source, and the file stays until both are deleted", async () => {
    const source = await acme.makeAssistant()
    const { body: file } = await upload(w, acme.token, Buffer.from("Open on Sundays."), "hours.txt").expect(201)
    const item = await know(source, { name: "Hours", kind: "file", resourceContent: undefined, fileId: file.id })
    const made = await copy(source)
    const [known] = await items(made)
    expect(await lookAtItem(known.id)).toMatchObject({
      fileId: file.id,
      file: { filename: "hours.txt" },
      resourceContent: "Open on Sundays.",
    })
    const read = async () => {
      clock.advance(1_000)
      await forgetFiles(w, acme.id)
      return (await supertest(w.url).get(pathOf(file.url))).status
    }
    await removeItem(item.id)
    expect(await read()).toBe(200)
    await rest.as(acme.token).delete(`${path}/${made.id}`).expect(200)
    expect(await read()).toBe(404)
    expect(await sql("select 1 from media where id = $1", [file.id])).toEqual([])
  })

  it("is copied completely, whatever its size", async () => {
    const source = await acme.makeAssistant()
    const item = await searchable(source, paragraphs(1, "Much"))
    await indexAll(w)
    await sql(
      `insert into knowledge_chunk (id, company_id, knowledge_id, assistant_id, generation, position, content, content_hash, embedding, embedding_model, tsv)
       select gen_random_uuid(), c.company_id, c.knowledge_id, c.assistant_id, c.generation, n, c.content, c.content_hash, c.embedding, c.embedding_model, c.tsv
       from knowledge_chunk c, generate_series(1, 5499) n where c.knowledge_id = $1`,
      [item.id],
    )
    await sql("update knowledge set chunk_count = 5500 where id = $1", [item.id])
    const [known] = await items(await copy(source))
    expect(known.chunkCount).toBe(5_500)
    expect(await chunks(known.id)).toHaveLength(5_500)
  })
})

describe("a copy that cannot be finished", () => {
  it("leaves no rows behind", async () => {
    const source = await acme.makeAssistant()
    await acme.tool({ assistantId: source.id })
    await searchable(source, paragraphs(2, "Half"))
    await indexAll(w)
    const all = () =>
      sql(
        `select (select count(*)::int from assistant) as assistants, (select count(*)::int from assistant_tool) as tools,
                (select count(*)::int from knowledge) as items, (select count(*)::int from knowledge_chunk) as chunks`,
      )
    const before = await all()
    // The database refuses the last rows of the copy.
    await sql(`alter table knowledge_chunk add constraint nothing_new check (assistant_id = '${source.id}') not valid`)
    const answer = await supertest(w.url).post(`${path}/${source.id}/copy`).set(headersOf(acme.token)).send({ name: "Half" })
    await sql("alter table knowledge_chunk drop constraint nothing_new")
    expect(answer.status).toBe(500)
    expect(await all()).toEqual(before)
    expect((await items(await copy(source)))[0].chunkCount).toBe(2)
  })
})

describe("copies during concurrent changes", () => {
  it("are consistent: no index is partly old and partly new", async () => {
    const source = await acme.makeAssistant()
    const item = await searchable(source, paragraphs(4, "Old"))
    await indexAll(w)
    await using gate = await blockWrites(w, "insert on knowledge", "true")
    const copying = copy(source)
    await gate.waiting(1)
    let isChanged = false
    const changing = changeItem(item.id, { resourceContent: paragraphs(6, "New").join("\n\n") }).then(async () => {
      await indexAll(w)
      isChanged = true
    })
    await gate.waiting(2, () => isChanged)
    await gate.open()
    const made = await copying
    await changing
    await indexAll(w)
    const [known] = await items(made)
    expect(known).toMatchObject({ indexStatus: "indexed", chunkCount: 4 })
    expect((await chunks(known.id)).map(({ content }) => content)).toEqual(paragraphs(4, "Old"))
    expect(await chunks(item.id)).toHaveLength(6)
  })

  promised("twenty at once are twenty", async () => {
    const source = await acme.makeAssistant({ name: "Many" })
    await acme.tool({ assistantId: source.id })
    await know(source, { name: "Hours" })
    const made = await Promise.all(Array.from({ length: 20 }, () => copy(source)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(20)
    for (const each of made) expect([(await tools(each)).length, (await items(each)).length]).toEqual([5, 1])
  })

  it("are made before the deletion of their source, or not at all", async () => {
    const source = await acme.makeAssistant()
    await searchable(source, paragraphs(2, "Gone"))
    await indexAll(w)
    const [deletion, ...copies] = await Promise.all([
      rest.as(acme.token).delete(`${path}/${source.id}`),
      ...Array.from({ length: 6 }, () => rest.as(acme.token).post(`${path}/${source.id}/copy`, {})),
    ])
    expect(deletion!.status).toBe(200)
    for (const { status, body } of copies) {
      expect([201, 400, 404]).toContain(status)
      if (status === 201) expect((await items(body))[0]).toMatchObject({ indexStatus: "indexed", chunkCount: 2 })
    }
  })
})
