import { createHash } from "node:crypto"
import { request } from "node:http"
import { connect } from "node:net"
import supertest from "supertest"
import { v7 } from "uuid"
import { headersOf } from "../kit/clients.js"
import { filesBelow, folderOfItsOwn, samples, upload, uploadByGraphql, uploadMutation } from "../kit/files.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const folder = folderOfItsOwn()
const w = world({ DATA_DIR: folder })
const { acme, globex, rest, sql } = w
const limit = 25 * 1024 * 1024

/** Checks that there are no rows and files, finished or not, beyond the expected ones. */
async function nothingBut(count: number) {
  // The response may precede the removal of the last temporary file.
  await until(
    `${count} files are stored`,
    () => filesBelow(folder).length === count,
    () => filesBelow(folder),
  )
  expect(filesBelow(folder)).toHaveLength(count)
  expect(await sql("select 1 from media")).toHaveLength(count)
}

beforeEach(async () => {
  const rows = await sql("delete from media returning storage_key")
  await w.services.storage.remove(rows.map((row) => row.storage_key))
})

describe("an upload", () => {
  it("is stored, hashed and shown", async () => {
    const { body } = await upload(w, acme.token, samples.png, "dot.png").expect(201)
    expect(body).toEqual({
      id: expect.any(String),
      companyId: acme.id,
      filename: "dot.png",
      status: "ready",
      mimeType: "image/png",
      size: samples.png.length,
      url: expect.stringMatching(new RegExp(`^${w.url}/media/${body.id}\\?expires=\\d+&signature=[\\w-]{43}$`)),
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    })
    await nothingBut(1)
    const hash = createHash("sha256").update(samples.png).digest("hex")
    expect(await sql("select sha256, storage_key from media")).toEqual([{ sha256: hash, storage_key: `${acme.id}/${body.id}` }])
  })

  it("matches openapi.json", async () => {
    await rest.as(acme.token).ask("post", "/api/media/upload").attach("file", samples.png, "dot.png").expect(201)
    await rest.as(acme.token).ask("post", "/api/media/upload").attach("file", samples.exe, "dot.png").expect(415)
    await rest.as(acme.token).ask("post", "/api/media/upload").expect(415)
    await rest.as(acme.token).ask("post", `/api/media/upload?companyId=${globex.id}`).attach("file", samples.png, "dot.png").expect(403)
    const { parameters, requestBody, responses } = w.openapi.paths["/api/media/upload"].post
    expect(parameters.map((each: { name: string }) => each.name)).toEqual(["companyId", "Idempotency-Key"])
    expect(requestBody.content["multipart/form-data"].schema).toMatchObject({
      required: ["file"],
      properties: { file: { format: "binary" } },
    })
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["201", "400", "401", "403", "409", "413", "415", "422", "429"]))
  })

  it("belongs to the token's company, or to the named one", async () => {
    const named = await upload(w, acme.member.jwt, samples.png, "a.png", undefined, `?companyId=${acme.id.toUpperCase()}`).expect(201)
    expect(named.body.companyId).toBe(acme.id)
    for (const companyId of [globex.id, v7()])
      await upload(w, acme.token, samples.png, "a.png", undefined, `?companyId=${companyId}`).expect(403)
    for (const companyId of ["nonsense", ""])
      await upload(w, acme.token, samples.png, "a.png", undefined, `?companyId=${companyId}`).expect(400)
    await nothingBut(1)
  })

  it("needs credentials, before anything is read", async () => {
    await upload(w, null, samples.png, "a.png").expect(401)
    await upload(w, "no.such.jwt", samples.png, "a.png").expect(401)
    await nothingBut(0)
  })

  it.each([
    ["dot.png", "dot.png"],
    ["Résumé für März 🎈.png", "Résumé für März 🎈.png"],
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\me\\dot.png", "dot.png"],
    ["photo\u202egnp.exe.png", "photognp.exe.png"],
    [`${"x".repeat(300)}.png`, `${"x".repeat(251)}.png`],
    ["..", "file"],
  ])("called %s is %s", async (given, kept) => {
    expect((await upload(w, acme.token, samples.png, given).expect(201)).body.filename).toBe(kept)
  })
})

describe("a type is detected from the bytes", () => {
  const office = "application/vnd.openxmlformats-officedocument"
  it.each([
    ["png", "image/png"],
    ["jpeg", "image/jpeg"],
    ["gif", "image/gif"],
    ["webp", "image/webp"],
    ["svg", "image/svg+xml"],
    ["mp4", "video/mp4"],
    ["mp3", "audio/mpeg"],
    ["wav", "audio/wav"],
    ["ogg", "audio/ogg"],
    ["pdf", "application/pdf"],
    ["doc", "application/msword"],
    ["xls", "application/vnd.ms-excel"],
    ["ppt", "application/vnd.ms-powerpoint"],
    ["docx", `${office}.wordprocessingml.document`],
    ["xlsx", `${office}.spreadsheetml.sheet`],
    ["pptx", `${office}.presentationml.presentation`],
    ["zip", "application/zip"],
    ["txt", "text/plain"],
  ] as const)("%s is %s, whatever name and header say", async (name, type) => {
    for (const [filename, claimed] of [
      [`file.${name}`, type],
      ["invoice.exe", "application/x-msdownload"],
      ["page.html", "text/html"],
    ] as const) {
      const { body } = await upload(w, acme.token, samples[name], filename, claimed).expect(201)
      expect(body).toMatchObject({ mimeType: type, filename, size: samples[name].length })
    }
  })

  it("CSV is text with that name", async () => {
    const table = Buffer.from("name,price\nBread,2\n")
    expect((await upload(w, acme.token, table, "prices.CSV").expect(201)).body.mimeType).toBe("text/csv")
    expect((await upload(w, acme.token, table, "prices.txt", "text/csv").expect(201)).body.mimeType).toBe("text/plain")
    expect((await upload(w, acme.token, samples.png, "prices.csv", "text/csv").expect(201)).body.mimeType).toBe("image/png")
  })

  it.each([
    ["BM and MZ are no signatures in a text", "BMW 3, MZ 125, GIF, PK, %!PS-Adobe"],
    ["XML that is no picture", '<?xml version="1.0"?><catalog><svg/></catalog>'],
    ["a text about HTML", "Write <html> first, then <script>."],
    ["less than", "<3 you"],
    ["a script is its text", "#!/bin/sh\necho hello\n"],
    ["a byte order mark", "\ufeffHello"],
  ])("plain text: %s", async (_name, text) => {
    expect((await upload(w, acme.token, Buffer.from(text), "note.txt").expect(201)).body.mimeType).toBe("text/plain")
  })

  it.each([
    [
      "a root element behind much",
      `\ufeff <?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "<html>">]><?x y?><!-- <html> -->\n<svg:svg xmlns:svg="x"/>`,
    ],
    ["a bare one", "<svg>"],
  ])("SVG: %s", async (_name, text) => {
    expect((await upload(w, acme.token, Buffer.from(text), "a.txt", "text/plain").expect(201)).body.mimeType).toBe("image/svg+xml")
  })

  it.each([
    ["a program for Windows", samples.exe],
    ["a program for Linux", samples.elf],
    ["an installer in an old Office container", samples.msi],
    ["a container whose table is damaged", Buffer.concat([samples.doc.subarray(0, 512), Buffer.alloc(2048, 0xee)])],
    ["a cut container", samples.doc.subarray(0, 60)],
    ["nothing that is known", Buffer.from([1, 2, 3, 4, 5, 250, 251])],
    ["text with a control character", Buffer.from("bell \u0007")],
    ["text with NUL", Buffer.from("a\u0000b")],
    ["text that is no UTF-8", Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65, 0x20, 0x61, 0x6c, 0x6c])],
    ["text that ends within a character", Buffer.concat([Buffer.from("Gr"), Buffer.from([0xc3])])],
    ["HTML", Buffer.from("\ufeff\n <!DOCTYPE html><title>x</title>")],
    ["HTML behind a comment", Buffer.from("<!-- x --><ScRiPt>alert(1)</ScRiPt>")],
    ["XHTML", Buffer.from('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>')],
  ])("415: %s, renamed to a picture with a picture's header", async (_name, bytes) => {
    const { body } = await upload(w, acme.token, bytes, "photo.jpg", "image/jpeg").expect(415)
    expect(body.code).toBe("UNSUPPORTED_MEDIA_TYPE")
    await nothingBut(0)
  })
})

describe("25 MB", () => {
  const big = Buffer.alloc(limit + 1, "a")

  it("are accepted, over both protocols", async () => {
    await upload(w, acme.token, big.subarray(1), "a.txt").expect(201)
    const { body } = await uploadByGraphql(w, acme.token, big.subarray(1), "a.txt").expect(200)
    expect(body.data.uploadMedia).toMatchObject({ size: limit, mimeType: "text/plain" })
    await nothingBut(2)
  })

  it("and one byte are 413, over both protocols, and no file is left", async () => {
    const { body } = await upload(w, acme.token, big, "a.txt").expect(413)
    expect(body).toMatchObject({ code: "PAYLOAD_TOO_LARGE", message: "The request is larger than 25 MB" })
    const answer = await uploadByGraphql(w, acme.token, big, "a.txt")
    expect(answer.body.errors[0].extensions).toMatchObject({ code: "PAYLOAD_TOO_LARGE", statusCode: 413 })
    await nothingBut(0)
  })

  it.each(["/api/media/upload", "/graphql"])("are refused before they are sent: %s", async (path) => {
    const status = await new Promise((resolve, reject) => {
      const headers = { ...headersOf(acme.token), "Content-Type": "multipart/form-data; boundary=x", "Content-Length": 10 * limit }
      const sent = request(w.url + path, { method: "POST", headers }, (response) => {
        resolve(response.statusCode)
        sent.destroy()
      })
      sent.on("error", reject)
      sent.flushHeaders()
    })
    expect(status).toBe(413)
    await nothingBut(0)
  })

  it("are cut off during the transfer, without a Content-Length", async () => {
    let sentBytes = 0
    const status = await new Promise((resolve, reject) => {
      const headers = { ...headersOf(acme.token), "Content-Type": "multipart/form-data; boundary=x" }
      let answered = false
      const sent = request(`${w.url}/api/media/upload`, { method: "POST", headers }, (response) => {
        answered = true
        resolve(response.statusCode)
        sent.destroy()
      })
      sent.on("error", (error) => answered || reject(error))
      sent.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n')
      const chunk = Buffer.alloc(1024 * 1024, "a")
      const more = () => {
        if (answered) return
        sentBytes += chunk.length
        sent.write(chunk, () => setImmediate(more))
      }
      more()
    })
    expect(status).toBe(413)
    expect(sentBytes).toBeLessThan(3 * limit)
    await nothingBut(0)
  })
})

describe("a multipart body", () => {
  const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
  const send = (body: string, type = "multipart/form-data; boundary=x") =>
    rest.as(acme.token).ask("post", "/api/media/upload").set("Content-Type", type).send(body)

  it.each([
    ["that ends within the file", `--x\r\n${part}hello`],
    ["that ends behind the file", `--x\r\n${part}hello\r\n--x`],
    ["whose last boundary is missing", `--x\r\n${part}hello\r\n--x\r\n`],
    ["that ends within the headers of the part", "--x\r\nContent-Disposition: form-data; na"],
    ["with malformed headers", "--x\r\nContent Disposition\r\n\r\nhello\r\n--x--\r\n"],
    ["with another boundary", `--y\r\n${part}hello\r\n--y--\r\n`],
    ["that is nothing", "nothing of the kind"],
    ["that is empty", ""],
    ["without a file", '--x\r\nContent-Disposition: form-data; name="other"\r\n\r\nhello\r\n--x--\r\n'],
    ["whose file is a field", '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n--x--\r\n'],
    ["with the file under another name", `--x\r\n${part.replace('"file"', '"image"')}hello\r\n--x--\r\n`],
    ["with an empty file", `--x\r\n${part}\r\n--x--\r\n`],
    ["with two files", `--x\r\n${part}hello\r\n--x\r\n${part}hello\r\n--x--\r\n`],
    ["whose file has NUL in its name", `--x\r\n${part.replace("a.txt", "a\u0000.txt")}hello\r\n--x--\r\n`],
  ])("%s is 400, and nothing is left", async (_name, body) => {
    const { body: refusal } = await send(body).expect(400)
    expect(refusal.code).toBe("BAD_USER_INPUT")
    await nothingBut(0)
  })

  it("without a boundary is 400, of another type 415", async () => {
    await send(`--x\r\n${part}hello\r\n--x--\r\n`, "multipart/form-data").expect(400)
    for (const type of ["application/json", "text/plain", "application/octet-stream", "multipart/mixed; boundary=x"])
      await send("{}", type).expect(415)
    await nothingBut(0)
  })

  it("may hold other fields, before and after the file", async () => {
    const field = '--x\r\nContent-Disposition: form-data; name="other"\r\n\r\nhello\r\n'
    const other = `--x\r\n${part.replace('"file"', '"image"')}hello\r\n`
    const { body } = await send(`preamble\r\n${field}${other}--x\r\n${part}hello\r\n${field}${other}--x--\r\nepilogue`).expect(201)
    expect(body).toMatchObject({ filename: "a.txt", size: 5, mimeType: "text/plain" })
  })

  it.each(["/api/media/upload", "/graphql"])("that its sender aborts leaves nothing: %s", async (path) => {
    const operations = JSON.stringify({ query: uploadMutation, variables: { file: null } })
    const fields = [
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${operations}\r\n`,
      '--x\r\nContent-Disposition: form-data; name="map"\r\n\r\n{"file":["variables.file"]}\r\n',
    ]
    const body = `${path === "/graphql" ? fields.join("") : ""}--x\r\n${part}${"a".repeat(300_000)}`
    const socket = connect(Number(new URL(w.url).port), "127.0.0.1")
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${acme.token}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000000\r\n\r\n${body}`,
    )
    await until("a file is begun", () => filesBelow(folder).length > 0)
    expect(filesBelow(folder)).toHaveLength(1)
    socket.destroy()
    await nothingBut(0)
    expect(w.logged.filter((line) => Number(line["level"]) >= 50)).toEqual([])
  })
})

describe("GraphQL's Upload", () => {
  const field = (name: string, value: unknown) => ({ name, value: JSON.stringify(value) })
  const operations = field("operations", { query: uploadMutation, variables: { file: null } })
  const map = field("map", { 0: ["variables.file"] })
  const send = (fields: { name: string; value: string }[], files: string[] = ["0"]) => {
    const asked = supertest(w.url).post("/graphql").set(headersOf(acme.token))
    for (const { name, value } of fields) asked.field(name, value)
    for (const name of files) asked.attach(name, Buffer.from("hello"), "a.txt")
    return asked
  }
  const refused = async (asked: ReturnType<typeof send>, status: number) => {
    const { body } = await asked
    expect(body.errors?.[0].extensions).toMatchObject({ statusCode: status })
    await nothingBut(0)
  }

  it("answers as REST does", async () => {
    const { body } = await uploadByGraphql(w, acme.token, samples.png, "dot.png", { companyId: acme.id }).expect(200)
    expect(body.data.uploadMedia).toMatchObject({
      companyId: acme.id,
      filename: "dot.png",
      mimeType: "image/png",
      size: samples.png.length,
    })
    await supertest(w.url).get(body.data.uploadMedia.url.slice(w.url.length)).expect(200)
    await nothingBut(1)
  })

  it("refuses what REST refuses", async () => {
    const answered = async (asked: ReturnType<typeof uploadByGraphql>) => (await asked).body.errors[0].extensions.statusCode
    expect(await answered(uploadByGraphql(w, acme.token, samples.exe, "dot.png"))).toBe(415)
    expect(await answered(uploadByGraphql(w, acme.token, Buffer.alloc(0), "dot.png"))).toBe(400)
    expect(await answered(uploadByGraphql(w, acme.token, samples.png, "dot.png", { companyId: globex.id }))).toBe(403)
    expect((await uploadByGraphql(w, null, samples.png, "dot.png")).body.errors[0].extensions.statusCode).toBe(401)
    expect((await uploadByGraphql(w, "no.such.jwt", samples.png, "dot.png").expect(401)).body.data).toBeUndefined()
    await nothingBut(0)
  })

  it("is 400 when the form does not match the specification", async () => {
    await refused(send([map, operations]), 400)
    await refused(send([operations]), 400)
    await refused(send([operations, map], []), 400)
    await refused(send([operations, field("map", { 0: ["variables.nothing.file"] })]), 400)
    await refused(send([operations, field("map", { 0: ["variables.__proto__.file"] })]), 400)
    await refused(send([operations, field("map", { 0: ["variables.file"], 1: ["variables.other"] })], ["0", "1"]), 400)
    await refused(send([{ name: "operations", value: "{" }, map]), 400)
    await refused(send([field("operations", "text"), map]), 400)
    await refused(send([], []), 400)
    await refused(send([field("operations", [JSON.parse(operations.value)]), field("map", { 0: ["0.variables.file"] })]), 400)
  })

  it("is refused when a field is larger than a body may be", async () => {
    await refused(send([field("operations", { query: uploadMutation, more: "x".repeat(1024 * 1024) }), map]), 413)
  })

  it("stores a file once, however often it is referenced", async () => {
    const query = "mutation ($file: Upload!) { a: uploadMedia(file: $file) { id } b: uploadMedia(file: $file) { id } }"
    const { body } = await send([field("operations", { query, variables: { file: null } }), map])
    expect(body.errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT" })
    await until(
      "at most one file is left",
      () => filesBelow(folder).length <= 1,
      () => filesBelow(folder),
    )
    expect(filesBelow(folder)).toHaveLength((await sql("select 1 from media")).length)
  })

  it("answers an operation that does not use the file", async () => {
    const { body } = await send([field("operations", { query: "{ chatFolders { id } }", variables: { file: null } }), map])
    expect(body).toEqual({ data: { chatFolders: [] } })
    await refused(send([field("operations", { query: "{ nothing }", variables: { file: null } }), map]), 400)
  })

  it("is neither a JSON value nor a literal", async () => {
    for (const file of ["text", {}, { promise: {} }, 5, null]) {
      const { errors } = await w.gql(acme.token, uploadMutation, { file })
      expect(errors![0]!.extensions).toMatchObject({ statusCode: 400 })
    }
    const { errors } = await w.gql(acme.token, 'mutation { uploadMedia(file: "x") { id } }')
    expect(errors![0]!.extensions).toMatchObject({ statusCode: 400 })
  })

  it("whose last boundary is missing leaves nothing", async () => {
    const file = '--x\r\nContent-Disposition: form-data; name="0"; filename="a.txt"\r\n\r\nhello\r\n--x\r\n'
    const fields = [operations, map].map(({ name, value }) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    const asked = supertest(w.url).post("/graphql").set(headersOf(acme.token)).set("Content-Type", "multipart/form-data; boundary=x")
    const { body } = await asked.send(fields.join("") + file)
    expect(body.errors[0].extensions).toMatchObject({ code: "BAD_USER_INPUT", statusCode: 400 })
    await nothingBut(0)
  })
})

describe("an Idempotency-Key", () => {
  const keyed = (key: string, bytes: Buffer, name: string, credential = acme.token) =>
    upload(w, credential, bytes, name).set("Idempotency-Key", key)

  it("answers a repeated request like the first, over both protocols, with a new address", async () => {
    const first = await keyed("one", samples.png, "dot.png").expect(201)
    w.clock.advance(2_000)
    const second = await keyed("one", samples.png, "dot.png").expect(201)
    expect(second.headers["idempotency-replayed"]).toBe("true")
    expect({ ...second.body, url: "" }).toEqual({ ...first.body, url: "" })
    expect(second.body.url).not.toBe(first.body.url)
    await supertest(w.url).get(second.body.url.slice(w.url.length)).expect(200)
    const third = await uploadByGraphql(w, acme.token, samples.png, "dot.png", { key: "one" })
    expect(third.body.data.uploadMedia.id).toBe(first.body.id)
    await nothingBut(1)
  })

  it("is refused for another file or name, and belongs to one credential", async () => {
    await keyed("two", samples.png, "dot.png").expect(201)
    await keyed("two", samples.gif, "dot.png").expect(422)
    await keyed("two", samples.png, "other.png").expect(422)
    await keyed("two", samples.png, "dot.png", acme.owner.jwt).expect(201)
    await keyed("x".repeat(256), samples.png, "dot.png").expect(400)
    await nothingBut(2)
  })

  it("stores one file of many at once", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => keyed("three", samples.png, "dot.png")))
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id)).size).toBe(1)
    for (const { status } of answers) expect([201, 409]).toContain(status)
    await nothingBut(1)
  })
})
