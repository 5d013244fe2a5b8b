import { bothProtocols } from "../kit/both-protocols.js"
import { world } from "../kit/world.js"

const path = "/api/chat-tags"

describe("chat tags over both protocols", () => {
  const w = world()
  const { acme, globex } = w
  const rest = bothProtocols(w)
  const post = (body: object, as = acme.token) => rest.as(as).post(path, body)
  const patch = (id: string, body: object) => rest.as(acme.token).patch(`${path}/${id}`, body)

  it("are gray unless they have a color, which is kept in lower case", async () => {
    const { body } = await post({ name: "  VIP\u00a0" }).expect(201)
    expect(body).toEqual({
      id: expect.any(String),
      companyId: acme.id,
      name: "VIP",
      color: "#808080",
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    })
    expect((await post({ name: "Red", color: " #F00 " }).expect(201)).body.color).toBe("#f00")
    expect((await post({ name: "Nothing said", color: null, companyId: null }).expect(201)).body.color).toBe("#808080")
  })

  it.each([
    ["name", ""],
    ["name", " \n "],
    ["name", "x".repeat(65)],
    ["name", "🎈".repeat(65)],
    ["name", "a\u0000b"],
    ["color", ""],
    ["color", "red"],
    ["color", "abc"],
    ["color", "#ab"],
    ["color", "#abcd"],
    ["color", "#12345g"],
  ])("with a bad %s (%j) are 400", async (field, value) => {
    const { id } = await acme.tag()
    expect((await post({ name: "Fine", [field]: value }).expect(400)).body.details).toMatchObject([
      { path: expect.stringContaining(field) },
    ])
    await patch(id, { [field]: value }).expect(400)
  })

  it("count code points, not bytes or UTF-16 units: 64 fit, without surrounding blanks", async () => {
    for (const name of ["x".repeat(64), "🎈".repeat(64), "é".repeat(64)])
      expect((await post({ name: `  ${name}  ` }).expect(201)).body.name).toBe(name)
  })

  it("are renamed and recolored independently, and keep their chats", async () => {
    const tag = await acme.tag({ name: "Before", color: "#111" })
    const chat = await acme.chat()
    await rest.as(acme.token).post(`/api/chats/${chat.id}/tags`, { tagId: tag.id }).expect(201)
    const { body: renamed } = await patch(tag.id, { name: "After" }).expect(200)
    expect(renamed).toEqual({ ...tag, name: "After", updatedAt: renamed.updatedAt })
    expect((await patch(tag.id, { color: "#222222" }).expect(200)).body).toMatchObject({ name: "After", color: "#222222" })
    expect((await patch(tag.id, {}).expect(200)).body).toMatchObject({ name: "After", color: "#222222" })
    for (const body of [{ name: null }, { color: null }]) await patch(tag.id, body).expect(400)
    const { body } = await rest.as(acme.token).get(`/api/chats/${chat.id}`).expect(200)
    expect(body).toMatchObject({ tags: [{ id: tag.id, color: "#222222" }], meta: { labels: ["After"] } })
  })

  it("are listed by name ignoring case, of the company, or of all companies of a user", async () => {
    for (const name of ["beta", "Alpha", "Gamma"]) await globex.tag({ name })
    const { body } = await rest.as(globex.token).get(path).expect(200)
    expect(body.map(({ name }: { name: string }) => name)).toEqual(["Alpha", "beta", "Gamma"])
    const person = await acme.person("member", await globex.person())
    expect((await rest.as(person.jwt).get(`${path}?companyId=${globex.id}`).expect(200)).body).toEqual(body)
    const own = (await rest.as(acme.token).get(path).expect(200)).body
    expect((await rest.as(person.jwt).get(path).expect(200)).body).toHaveLength(own.length + 3)
  })

  it("are gone once deleted", async () => {
    const { id } = await acme.tag()
    await rest.as(acme.token).delete(`${path}/${id.toUpperCase()}`).expect(200, { id, deleted: true })
    await rest.as(acme.token).delete(`${path}/${id}`).expect(404)
    await patch(id, { name: "Back" }).expect(404)
  })
})
