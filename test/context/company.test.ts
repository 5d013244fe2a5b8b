import { world } from "../kit/world.js"

const { acme, globex, rest, gql } = world()

const ids = (list: { id: string }[]) => list.map(({ id }) => id)

describe("companies", () => {
  it("show their people, their subscription and their balances", async () => {
    const { body } = await rest.as(acme.token).get(`/api/companies/${acme.id}`).expect(200)
    const person = ({ id, email, name }: typeof acme.owner, role: string) => ({ userId: id, email, name, role })
    expect(body).toEqual({
      id: acme.id,
      name: "Acme",
      members: [person(acme.owner, "owner"), person(acme.admin, "admin"), person(acme.member, "member")],
      subscriptions: [{ id: expect.any(String), plan: "pro", status: "active", startsAt: expect.any(String), endsAt: null }],
      voiceBalance: 0,
      embeddingCredits: 10_000,
      voiceLines: 1,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  it("of a user are all of theirs, by name, whatever the role; of a token its own", async () => {
    const person = await globex.person("member")
    await acme.person("owner", person)
    const { body } = await rest.as(person.jwt).get("/api/companies/my").expect(200)
    expect(ids(body)).toEqual([acme.id, globex.id])
    expect(ids((await rest.as(acme.member.jwt).get("/api/companies/my").expect(200)).body)).toEqual([acme.id])
    expect(ids((await rest.as(globex.token).get("/api/companies/my").expect(200)).body)).toEqual([globex.id])
    for (const company of [acme, globex]) await rest.as(person.jwt).get(`/api/companies/${company.id}`).expect(200)
  })

  it("of others are not found", async () => {
    for (const credential of [acme.token, acme.owner.jwt]) await rest.as(credential).get(`/api/companies/${globex.id}`).expect(404)
    const { data, errors } = await gql(acme.token, "query ($id: UUID!) { company(id: $id) { id } }", { id: globex.id })
    expect(data).toEqual({ company: null })
    expect(errors).toMatchObject([{ path: ["company"], extensions: { code: "NOT_FOUND", statusCode: 404 } }])
  })

  it("without a subscription show none", async () => {
    await globex.subscription(null)
    const { body } = await rest.as(globex.token).get(`/api/companies/${globex.id}`).expect(200)
    expect(body.subscriptions).toEqual([])
  })
})

describe("a user of two companies", () => {
  it("gets both in a list without companyId, and must name the company of a new row", async () => {
    const person = await acme.person()
    await globex.person("admin", person)
    const [ours, theirs] = [await acme.chat(), await globex.chat()]
    const { body: all } = await rest.as(person.jwt).get("/api/chats").expect(200)
    expect(ids(all.data)).toEqual(expect.arrayContaining([ours.id, theirs.id]))
    const { body: one } = await rest.as(person.jwt).get(`/api/chats?companyId=${globex.id}`).expect(200)
    expect(ids(one.data)).toEqual([theirs.id])

    const { body: refused } = await rest.as(person.jwt).post("/api/chat-folders", { name: "Returns" }).expect(400)
    expect(refused.details).toEqual([{ path: "companyId", message: expect.any(String) }])
    const { body: folder } = await rest.as(person.jwt).post("/api/chat-folders", { name: "Returns", companyId: globex.id }).expect(201)
    expect(folder.companyId).toBe(globex.id)
  })

  it("of one company need not name it", async () => {
    const { body } = await rest.as(acme.member.jwt).post("/api/chat-folders", { name: "Returns" }).expect(201)
    expect(body.companyId).toBe(acme.id)
  })
})
