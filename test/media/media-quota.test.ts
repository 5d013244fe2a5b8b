import { request } from "node:http"
import { headersOf } from "../kit/clients.js"
import { filesBelow, folderOfItsOwn, forgetFiles, upload, uploadByGraphql } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const quota = 4_000_000
const folder = folderOfItsOwn()
const w = world({ DATA_DIR: folder, MEDIA_BYTES_PER_COMPANY: String(quota) })
const { acme, globex, rest, sql } = w

const bytes = (size: number) => Buffer.alloc(size, "a")
const send = (size: number, company = acme) => upload(w, company.token, bytes(size), "a.txt")
const refusal = {
  statusCode: 413,
  code: "PAYLOAD_TOO_LARGE",
  message: expect.stringMatching(/files of the company.* quota of 4000000 bytes/),
}
const kept = async () => Number((await sql("select coalesce(sum(size), 0) as bytes from media where company_id = $1", [acme.id]))[0].bytes)
const counted = async () => Number((await sql("select bytes from media_tally where company_id = $1", [acme.id]))[0]?.bytes ?? 0)

afterEach(async () => {
  // The answer may precede the removal of the last temporary file.
  const [{ count }] = await sql("select count(*)::integer as count from media")
  await until(
    `${count} files are stored`,
    () => filesBelow(folder).length === count,
    () => filesBelow(folder),
  )
  expect(filesBelow(folder)).toHaveLength(count)
  expect(await counted()).toBe(await kept())
  await sql("update media set forget_at = to_timestamp(0)")
  await Promise.all([acme, globex].map(({ id }) => forgetFiles(w, id)))
  expect(await counted()).toBe(0)
})

it("the files of a company are accepted up to its quota and refused beyond it, over both protocols", async () => {
  await send(quota - 5).expect(201)
  expect((await send(6).expect(413)).body).toMatchObject(refusal)
  const { body } = await uploadByGraphql(w, acme.token, bytes(6), "a.txt")
  expect(body.errors[0]).toMatchObject({ message: refusal.message, extensions: { statusCode: 413, code: "PAYLOAD_TOO_LARGE" } })
  await send(5).expect(201)
  expect((await send(1).expect(413)).body).toMatchObject(refusal)
  expect(await kept()).toBe(quota)
  await send(1, globex).expect(201)
})

promised("uploads at the same time are stored as far as they fit together", async () => {
  const answers = await Promise.all(Array.from({ length: 24 }, () => send(quota / 8)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(8)
  expect(statuses.filter((status) => status === 413)).toHaveLength(16)
  expect(await kept()).toBe(quota)
})

it("the bytes of files that are forgotten come back", async () => {
  const chat = await acme.chat()
  const { body } = await send(quota).expect(201)
  await rest
    .as(acme.token)
    .post("/api/messages", { chatId: chat.id, mediaIds: [body.id] })
    .expect(201)
  await send(1).expect(413)
  await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
  await forgetFiles(w, acme.id)
  await send(quota).expect(201)
})

promised("a repetition with its Idempotency-Key is answered although the quota is used up; it counts once", async () => {
  const keyed = (size: number, key: string) => send(size).set("Idempotency-Key", key)
  const { body } = await keyed(quota, "one").expect(201)
  const again = await keyed(quota, "one").expect(201)
  expect(again.headers["idempotency-replayed"]).toBe("true")
  expect(again.body.id).toBe(body.id)
  expect((await keyed(1, "two").expect(413)).body).toMatchObject(refusal)
  expect(await kept()).toBe(quota)
})

it.each(["declares", "does not declare"])("a file beyond the quota is not read to its end by a request that %s its size", async (how) => {
  await send(quota - 100_000).expect(201)
  const size = 20_000_000
  const headers = { ...headersOf(acme.token), "Content-Type": "multipart/form-data; boundary=x" }
  let sentBytes = 0
  const status = await new Promise((resolve, reject) => {
    let answered = false
    const options = { method: "POST", headers: how === "declares" ? { ...headers, "Content-Length": size } : headers }
    const sent = request(`${w.url}/api/media/upload`, options, (response) => {
      answered = true
      resolve(response.statusCode)
      sent.destroy()
    })
    sent.on("error", (error) => answered || reject(error))
    sent.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello')
    const chunk = bytes(10_000)
    const more = async () => {
      // One that declares its size sends no more: it is answered all the same.
      if (answered || how === "declares") return
      sentBytes += chunk.length
      sent.write(chunk)
      // As slow as the database, which the server asks for the quota: what is sent meanwhile is a number of its answers, not of milliseconds.
      await sql("select 1")
      void more()
    }
    void more()
  })
  expect(status).toBe(413)
  expect(sentBytes).toBeLessThan(2_000_000)
})

it("a quota of 0 is none", async () => {
  const open = await w.another({ MEDIA_BYTES_PER_COMPANY: "0" })
  await send(quota).expect(201)
  await upload({ ...w, url: open.url }, acme.token, bytes(1), "a.txt").expect(201)
})
