import { bothProtocols } from "../kit/both-protocols.js"
import { world } from "../kit/world.js"

describe("over both protocols:", () => {
  const w = world()
  const { acme, globex } = w
  const rest = bothProtocols(w)

  const path = "/api/chat-folders"

  describe("chat folders", () => {
    it("are gray unless they have a color, which is kept in lower case", async () => {
      const { body } = await rest.as(acme.token).post(path, { name: "  Returns  " }).expect(201)
      expect(body).toEqual({
        id: expect.any(String),
        companyId: acme.id,
        name: "Returns",
        color: "#808080",
        createdAt: expect.any(String),
        updatedAt: body.createdAt,
      })
      for (const [given, kept] of [
        ["#ABC", "#abc"],
        [" #A1b2C3 ", "#a1b2c3"],
      ])
        expect((await acme.folder({ color: given })).color).toBe(kept)
    })

    it.each([
      ["name", ""],
      ["name", "   "],
      ["name", "x".repeat(81)],
      ["color", "red"],
      ["color", "#12345"],
      ["color", "#ggg"],
      ["color", ""],
    ])("with a bad %s (%s) are 400", async (field, value) => {
      const { id } = await acme.folder()
      const { body } = await rest
        .as(acme.token)
        .post(path, { name: "Returns", [field]: value })
        .expect(400)
      expect(body.details).toEqual([{ path: field, message: expect.any(String) }])
      await rest
        .as(acme.token)
        .patch(`${path}/${id}`, { [field]: value })
        .expect(400)
    })

    it("count code points, not bytes: 80 of any alphabet fit", async () => {
      expect((await acme.folder({ name: "🗂".repeat(80) })).name).toBe("🗂".repeat(80))
      await rest
        .as(acme.token)
        .post(path, { name: "🗂".repeat(81) })
        .expect(400)
    })

    it("are renamed and recolored independently", async () => {
      const folder = await acme.folder({ color: "#111" })
      const { body: renamed } = await rest.as(acme.token).patch(`${path}/${folder.id}`, { name: "Refunds" }).expect(200)
      expect(renamed).toEqual({ ...folder, name: "Refunds", updatedAt: renamed.updatedAt })
      const { body: recolored } = await rest.as(acme.token).patch(`${path}/${folder.id}`, { color: "#222222" }).expect(200)
      expect(recolored).toMatchObject({ name: "Refunds", color: "#222222" })
      for (const body of [{ name: null }, { color: null }]) await rest.as(acme.token).patch(`${path}/${folder.id}`, body).expect(400)
    })

    it("are listed by name, only the company's", async () => {
      const person = await globex.person()
      for (const name of ["Beta", "Alpha"]) await globex.folder({ name })
      const { body } = await rest.as(globex.token).get(path).expect(200)
      expect(body.map(({ name }: { name: string }) => name)).toEqual(["Alpha", "Beta"])
      const { body: same } = await rest.as(person.jwt).get(`${path}?companyId=${globex.id}`).expect(200)
      expect(same).toEqual(body)
    })

    it("keep the chats of a deleted folder, unfiled", async () => {
      const folder = await acme.folder()
      const chat = await acme.chat()
      await w.sql("update chat set folder_id = $1 where id = $2", [folder.id, chat.id])
      const filed = (await rest.as(acme.token).get(`/api/chats/${chat.id}`)).body
      expect(filed).toMatchObject({ folderId: folder.id, folder })

      await rest.as(acme.token).delete(`${path}/${folder.id}`).expect(200, { id: folder.id, deleted: true })

      expect((await rest.as(acme.token).get(`/api/chats/${chat.id}`)).body).toMatchObject({ folderId: null, folder: null })
      await rest.as(acme.token).delete(`${path}/${folder.id}`).expect(404)
    })
  })
})
