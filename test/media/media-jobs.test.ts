import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import supertest from "supertest"
import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { forgetMedia } from "../../src/jobs/forget-media.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { retention } from "../../src/jobs/retention.js"
import { strayFiles } from "../../src/jobs/stray-files.js"
import { type FakeS3, fakeS3 } from "../kit/fake-s3.js"
import { filesBelow, folderOfItsOwn, forgetFiles, pathOf, samples, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const folder = folderOfItsOwn()
const w = world({ DATA_DIR: folder })
const { acme, globex, rest, sql, clock } = w

const file = async (company = acme) => (await upload(w, company.token, samples.png, "dot.png").expect(201)).body
const post = (fields: object) => rest.as(acme.token).post("/api/messages", fields).expect(201)
const remove = (chatId: string) => rest.as(acme.token).delete(`/api/chats/${chatId}`).expect(200)
const exists = async (media: { id: string; companyId: string }) => {
  const [row] = await sql("select 1 from media where id = $1", [media.id])
  const stored = filesBelow(folder).includes(join(folder, "media", media.companyId, media.id))
  expect(stored).toBe(Boolean(row))
  return stored
}
const gone = async (media: { id: string; companyId: string }) => {
  const path = join(folder, "media", media.companyId, media.id)
  const row = async () => (await sql("select 1 from media where id = $1", [media.id]))[0]
  await until("the file and its row are removed", async () => !(await row()) && !filesBelow(folder).includes(path))
  return !(await exists(media))
}

describe("deleting a chat", () => {
  it("removes its files promptly, if nothing else uses them", async () => {
    const [one, two] = [await acme.chat(), await acme.chat()]
    const [only, shared, stored, fresh] = [await file(), await file(), await file(), await file()]
    await post({ chatId: one.id, mediaIds: [only.id, shared.id, stored.id] })
    await post({ chatId: one.id, mediaIds: [only.id] })
    await post({ chatId: two.id, mediaIds: [shared.id] })
    await post({ mediaIds: [stored.id] })
    await remove(one.id)
    expect(await gone(only)).toBe(true)
    expect([await exists(shared), await exists(stored), await exists(fresh)]).toEqual([true, true, true])
    await supertest(w.url).get(pathOf(shared.url)).expect(200)
    await supertest(w.url).get(pathOf(only.url)).expect(404)
    await remove(two.id)
    expect(await gone(shared)).toBe(true)
    expect(await sql("select forget_at from media where id = $1", [stored.id])).toEqual([{ forget_at: null }])
  })

  it("with a lost job is completed by the sweep", async () => {
    const chat = await acme.chat()
    const media = await file()
    await post({ chatId: chat.id, mediaIds: [media.id] })
    await sql("delete from chat where id = $1", [chat.id])
    expect(await exists(media)).toBe(true)
    await retention.run(w.services)
    expect(await exists(media)).toBe(false)
  })

  it("keeps a file that is being attached to another message", async () => {
    for (let round = 0; round < 10; round += 1) {
      const [one, two] = [await acme.chat(), await acme.chat()]
      const media = await file()
      await post({ chatId: one.id, mediaIds: [media.id] })
      const [attached] = await Promise.all([
        rest.as(acme.token).post("/api/messages", { chatId: two.id, mediaIds: [media.id] }),
        remove(one.id),
        forgetMedia(w.services, acme.id),
      ])
      expect([201, 400]).toContain(attached.status)
      if (attached.status === 400) expect(attached.body.message).toBe(`Unknown mediaIds: ${media.id}`)
      await forgetFiles(w, acme.id)
      expect(await exists(media)).toBe(attached.status === 201)
    }
  })
})

it("a deleted company loses its rows, and its files become strays", async () => {
  const id = v7()
  await sql("insert into company (id, created_at, updated_at, name) values ($1, now(), now(), 'Short')", [id])
  await sql(
    "insert into media (id, created_at, updated_at, company_id, filename, mime_type, size, sha256, storage_key) values ($1, now(), now(), $1, 'a', 'text/plain', 1, 'x', 'x')",
    [id],
  )
  await sql(
    "insert into message (id, created_at, updated_at, company_id, role, type, status) values ($1, now(), now(), $1, 'User', 'Photo', 'stored')",
    [id],
  )
  await sql("insert into message_media (id, company_id, message_id, media_id, position) values ($1, $1, $1, $1, 1)", [id])
  await sql("delete from company where id = $1", [id])
  expect(await sql("select 1 from media where id = $1", [id])).toEqual([])
})

promised("the database refuses a file of another company on a message", async () => {
  const [media, message] = [await file(globex), (await post({ text: "x" })).body]
  const code = await sql("insert into message_media (id, company_id, message_id, media_id, position) values ($1, $2, $3, $4, 1)", [
    v7(),
    acme.id,
    message.id,
    media.id,
  ]).catch((error) => error.code)
  expect(code).toBe("23503")
})

describe("retention", () => {
  it("removes an upload that was unused for a day, in every company", async () => {
    const chat = await acme.chat()
    const [attached, alone, theirs] = [await file(), await file(), await file(globex)]
    await post({ chatId: chat.id, mediaIds: [attached.id] })
    clock.advance(23 * 60 * 60_000)
    await retention.run(w.services)
    const late = await file()
    expect([await exists(alone), await exists(theirs)]).toEqual([true, true])
    clock.advance(61 * 60_000)
    await retention.run(w.services)
    expect([await exists(attached), await exists(alone), await exists(theirs), await exists(late)]).toEqual([true, false, false, true])
    await rest
      .as(acme.token)
      .post("/api/messages", { chatId: chat.id, mediaIds: [alone.id] })
      .expect(400)
  })

  it("removes many, in batches", async () => {
    await sql(
      `insert into media (id, created_at, updated_at, company_id, filename, mime_type, size, sha256, storage_key, forget_at)
       select id, now(), now(), $1::uuid, 'a', 'text/plain', 1, 'x', $1::uuid || '/' || id, to_timestamp(0) from (select gen_random_uuid() as id from generate_series(1, 350)) made`,
      [acme.id],
    )
    await retention.run(w.services)
    // A job of the server may remove a batch at the same time: this run leaves it to that one.
    await until("all are removed", async () => (await sql("select 1 from media where forget_at = to_timestamp(0)")).length === 0)
  })
})

describe("strays", () => {
  it("files without a row, and uploads that were never finished, are removed when they are old", async () => {
    const kept = await file()
    const [stray, unfinished] = [`${acme.id}/${v7()}`, join(folder, "media", "tmp", v7())]
    writeFileSync(join(folder, "media", stray), "from a crash")
    mkdirSync(join(folder, "media", "tmp"), { recursive: true })
    writeFileSync(unfinished, "half a file")
    writeFileSync(join(folder, "media", "notes.txt"), "not ours")
    // The clock of this process was moved forward: only new files are not old.
    await strayFiles.run(w.services)
    expect(filesBelow(folder)).not.toContain(join(folder, "media", stray))
    expect(filesBelow(folder)).not.toContain(unfinished)
    expect(filesBelow(folder)).toContain(join(folder, "media", "notes.txt"))
    expect(await exists(kept)).toBe(true)
  })
})

describe("the worlds of two test files", () => {
  const [one, two] = [world(), world()]
  it("have folders of their own: the moved clock of one removed the upload that arrived in the other, which was answered with 500", async () => {
    mkdirSync(two.services.arrivals, { recursive: true })
    const arriving = join(two.services.arrivals, v7())
    writeFileSync(arriving, "half a file")
    one.clock.advance((jobLimits.strayFileSeconds + 1) * 1000)
    await strayFiles.run(one.services)
    expect(filesBelow(two.services.arrivals)).toEqual([arriving])
  })
})

describe("a storage that fails", () => {
  let s3: FakeS3
  let second: Awaited<ReturnType<typeof w.another>>
  beforeAll(async () => {
    s3 = await fakeS3()
    second = await w.another({
      S3_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_ACCESS_KEY_ID: "id",
      S3_SECRET_ACCESS_KEY: "secret",
    })
    // Their jobs would take the rows of these tests, those of the first server for a file of the wrong storage.
    await Promise.all([stopScheduler(w), stopScheduler(second)])
  })
  afterAll(() => s3.close())
  const send = (bytes: Buffer) => upload({ ...w, url: second.url }, acme.token, bytes, "dot.png")
  const unfinished = () => filesBelow(folder).filter((path) => path.startsWith(join(folder, "media", "tmp")))

  it("works when it works: stored, read in ranges, removed with the chat", async () => {
    const { body } = await send(samples.png).expect(201)
    expect([...s3.objects.keys()]).toEqual([`media/${acme.id}/${body.id}`])
    const address = pathOf(body.url)
    expect((await supertest(second.url).get(address).expect(200)).body).toEqual(samples.png)
    const part = await supertest(second.url).get(address).set("Range", "bytes=1-3").expect(206)
    expect(part.body.toString()).toBe("PNG")
    await sql("update media set forget_at = to_timestamp(0) where id = $1", [body.id])
    await forgetMedia(second.services, acme.id)
    expect(s3.objects.size).toBe(0)
    await supertest(second.url).get(address).expect(404)
  })

  it("leaves no row and no file, neither in the storage nor on disk", async () => {
    const rows = (await sql("select 1 from media")).length
    s3.fail("PUT", 500, 500, 500)
    const { body } = await send(samples.png).expect(500)
    expect(JSON.stringify(body)).not.toMatch(/s3|bucket|InternalError/i)
    expect([(await sql("select 1 from media")).length, s3.objects.size, unfinished()]).toEqual([rows, 0, []])
  })

  it("a row that cannot be written leaves no file", async () => {
    await sql("alter table media add constraint nothing_new check (filename <> 'dot.png') not valid")
    await send(samples.png).expect(500)
    await sql("alter table media drop constraint nothing_new")
    expect([s3.objects.size, unfinished()]).toEqual([0, []])
  })

  it("that cannot delete leaves the file to the sweep for strays", async () => {
    const { body } = await send(samples.png).expect(201)
    await sql("update media set forget_at = to_timestamp(0) where id = $1", [body.id])
    s3.fail("DELETE", 500, 500, 500)
    await expect(forgetMedia(second.services, acme.id)).rejects.toThrow()
    expect([await sql("select 1 from media where id = $1", [body.id]), s3.objects.size]).toEqual([[], 1])
    await strayFiles.run(second.services)
    expect(s3.objects.size).toBe(0)
  })

  it("that fails to read is 500, a missing file 404", async () => {
    const { body } = await send(samples.png).expect(201)
    s3.fail("GET", 500, 500, 500)
    await supertest(second.url).get(pathOf(body.url)).expect(500)
    await supertest(second.url).get(pathOf(body.url)).expect(200)
  })
})

promised("rows are visible only to their own company", async () => {
  const media = await file()
  const { mediaReadModel } = await import("../../src/schema/media.js")
  const reader = systemContext(w.services, globex.id).reader
  expect(await reader.byId(mediaReadModel, media.id, { url: {} })).toBeNull()
})
