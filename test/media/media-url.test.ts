import supertest from "supertest"
import { v7 } from "uuid"
import { filesBelow, folderOfItsOwn, pathOf, samples, upload } from "../kit/files.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const folder = folderOfItsOwn()
const w = world({ DATA_DIR: folder, PUBLIC_URL: "https://chat.example.com/base" })
const { acme, sql, clock } = w
const digits = Buffer.from("0123456789")
let path: string

const made = async (bytes: Buffer, filename: string) => pathOf((await upload(w, acme.token, bytes, filename).expect(201)).body.url)
const get = (address: string, headers: Record<string, string> = {}) => supertest(w.url).get(address).set(headers)

beforeAll(async () => {
  path = await made(digits, "digits.txt")
})

describe("the address of a file", () => {
  it("is absolute, under the public address, and needs no credentials", async () => {
    const { body } = await upload(w, acme.token, samples.png, "dot.png").expect(201)
    expect(body.url).toMatch(/^https:\/\/chat\.example\.com\/base\/media\//)
    const { headers, body: bytes } = await get(pathOf(body.url)).expect(200)
    expect(bytes).toEqual(samples.png)
    expect(headers).toMatchObject({
      "content-type": "image/png",
      "content-length": String(samples.png.length),
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "accept-ranges": "bytes",
    })
    expect(headers["cache-control"]).toMatch(/^private, max-age=\d+$/)
  })

  it("is 403 when a part of it is missing or changed", async () => {
    const [, id, expires, signature] = /^\/media\/([\w-]+)\?expires=(\d+)&signature=([\w-]+)$/.exec(path)!
    const later = String(Number(expires) + 1)
    const other = `${signature!.startsWith("A") ? "B" : "A"}${signature!.slice(1)}`
    for (const bad of [
      `/media/${id}`,
      `/media/${id}?expires=${expires}`,
      `/media/${id}?signature=${signature}`,
      `/media/${id}?expires=${later}&signature=${signature}`,
      `/media/${id}?expires=${expires}&signature=${other}`,
      `/media/${id}?expires=${expires}&signature=`,
      `/media/${id}?expires=${expires}&expires=${later}&signature=${signature}`,
      `/media/${id}?expires=&signature=${signature}`,
      `/media/${id!.toUpperCase()}?expires=${expires}&signature=${signature}`,
      `/media/${v7()}?expires=${expires}&signature=${signature}`,
      `/media/nonsense?expires=${expires}&signature=${signature}`,
      `/media/..%2Fsecrets.json?expires=${expires}&signature=${signature}`,
    ]) {
      const { body } = await get(bad).expect(403)
      expect(body).toMatchObject({ code: "FORBIDDEN", statusCode: 403 })
    }
    // The last character of base64url has several spellings of the same bytes.
    await get(path).expect(200)
  })

  it("is 404 when the file is gone, row or bytes", async () => {
    const [first, second] = [await made(digits, "a.txt"), await made(digits, "b.txt")]
    const key = async (address: string) =>
      (await sql("select storage_key from media where id = $1", [/media\/([\w-]+)/.exec(address)![1]]))[0].storage_key
    await w.services.storage.remove([await key(first)])
    const { headers, body } = await get(first).expect(404)
    expect(body.code).toBe("NOT_FOUND")
    expect(headers["cache-control"]).toBeUndefined()
    await sql("delete from media where storage_key = $1", [await key(second)])
    await get(second).expect(404)
  })

  it("takes GET and HEAD", async () => {
    const { headers } = await supertest(w.url).post(path).expect(405)
    expect(headers["allow"]!.split(", ").sort()).toEqual(["GET", "HEAD"])
  })
})

describe("ranges", () => {
  it.each([
    ["bytes=0-3", "0123", "bytes 0-3/10"],
    ["bytes=4-", "456789", "bytes 4-9/10"],
    ["bytes=-3", "789", "bytes 7-9/10"],
    ["bytes=-99", "0123456789", "bytes 0-9/10"],
    ["bytes=9-9", "9", "bytes 9-9/10"],
    ["bytes=8-99999999999999999999", "89", "bytes 8-9/10"],
  ])("%s is %s", async (range, text, said) => {
    const answer = await get(path, { Range: range }).expect(206)
    expect([answer.text, answer.headers["content-range"], answer.headers["content-length"]]).toEqual([text, said, String(text.length)])
  })

  it.each(["bytes=10-", "bytes=10-20", "bytes=-0"])("%s is 416, with the size", async (range) => {
    const { headers, body } = await get(path, { Range: range }).expect(416)
    expect(headers["content-range"]).toBe("bytes */10")
    expect(body).toMatchObject({ statusCode: 416, code: "RANGE_NOT_SATISFIABLE" })
  })

  it.each(["bytes=0-1,3-4", "bytes=5-2", "bytes=-", "bytes=a-b", "items=0-1", "bytes=0-1, 20-30"])(
    "%s is the whole file",
    async (range) => {
      const answer = await get(path, { Range: range }).expect(200)
      expect(answer.text).toBe("0123456789")
      expect(answer.headers["content-range"]).toBeUndefined()
    },
  )

  it("apply only to the requested version", async () => {
    const { headers } = await get(path).expect(200)
    await get(path, { Range: "bytes=0-1", "If-Range": headers["etag"]! }).expect(206)
    await get(path, { Range: "bytes=0-1", "If-Range": '"another"' }).expect(200)
  })
})

describe("a cached file", () => {
  it("is 304, by the hash of the file", async () => {
    const { headers } = await get(path).expect(200)
    expect(headers["etag"]).toMatch(/^"[0-9a-f]{64}"$/)
    const { text } = await get(path, { "If-None-Match": headers["etag"]! }).expect(304)
    expect(text).toBe("")
    await get(path, { "If-None-Match": '"another"' }).expect(200)
  })

  it("HEAD has the headers of GET, and reads nothing", async () => {
    const { headers, text } = await supertest(w.url).head(path).expect(200)
    expect(headers).toMatchObject({ "content-length": "10", "content-type": "text/plain; charset=utf-8", "accept-ranges": "bytes" })
    expect(text ?? "").toBe("")
  })
})

describe("a browser", () => {
  it.each([
    ["png", "inline"],
    ["mp4", "inline"],
    ["mp3", "inline"],
    ["svg", "attachment"],
    ["pdf", "attachment"],
    ["txt", "attachment"],
    ["docx", "attachment"],
    ["zip", "attachment"],
  ] as const)("is told that %s is %s", async (name, disposition) => {
    const { headers } = await get(await made(samples[name], `file.${name}`)).expect(200)
    expect(headers["content-disposition"]).toBe(`${disposition}; filename="file.${name}"`)
    expect(headers["content-security-policy"]).toBe("default-src 'none'; sandbox")
    expect(headers["x-content-type-options"]).toBe("nosniff")
  })

  it("gets a file name of any alphabet (RFC 5987)", async () => {
    const { headers } = await get(await made(samples.pdf, "Прайс 2026 €.pdf")).expect(200)
    expect(headers["content-disposition"]).toContain(`filename*=UTF-8''${encodeURIComponent("Прайс 2026 €.pdf")}`)
  })

  it("gets the type of the bytes, whatever the name", async () => {
    const { headers } = await get(await made(samples.png, "page.html")).expect(200)
    expect(headers["content-type"]).toBe("image/png")
  })
})

it("an aborted download keeps no file open", async () => {
  const { readdirSync, readlinkSync } = await import("node:fs")
  const big = await made(Buffer.alloc(20 * 1024 * 1024, "a"), "a.txt")
  const open = () =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
      } catch {
        return false
      }
    }).length
  for (let turn = 0; turn < 5; turn += 1) {
    const stop = new AbortController()
    const answer = await fetch(w.url + big, { signal: stop.signal })
    await answer.body!.getReader().read()
    stop.abort()
  }
  await until("every file is closed", () => open() === 0, open)
  expect(open()).toBe(0)
  expect(filesBelow(folder).length).toBeGreaterThan(0)
})

it("an address is valid for an hour", async () => {
  clock.advance((60 * 60 - 30) * 1000)
  await get(path).expect(200)
  clock.advance(60_000)
  await get(path).expect(403)
})
