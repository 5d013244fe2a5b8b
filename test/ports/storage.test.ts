import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { v7 } from "uuid"
import { diskStorage } from "../../src/ports/storage/disk.js"
import { s3Storage } from "../../src/ports/storage/s3.js"
import type { Storage, StoredFile } from "../../src/ports/storage.js"
import { type FakeS3, fakeS3 } from "../kit/fake-s3.js"

let folder: string
let s3: FakeS3
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "storage-"))
  s3 = await fakeS3()
})
afterAll(async () => {
  await s3.close()
  await rm(folder, { recursive: true })
})

const bucket = () => ({ bucket: s3.bucket, endpoint: s3.endpoint, region: "eu-central-1", accessKeyId: "id", secretAccessKey: "secret" })

const adapters: Record<string, { open(): Storage; litter(): Promise<void> }> = {
  disk: {
    open: () => diskStorage(join(folder, "media")),
    litter: () => writeFile(join(folder, "media", "notes.txt"), "not ours"),
  },
  s3: {
    open: () => s3Storage(bucket()),
    litter: async () => void s3.objects.set("media/notes.txt", { bytes: Buffer.from("not ours"), at: new Date() }),
  },
}

// Such as http://platform:secret@127.0.0.1:9000/files
const { TEST_S3_URL: given } = process.env
if (given) {
  const { username, password, host, protocol, pathname } = new URL(given)
  const credentials = { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) }
  const open = () => s3Storage({ bucket: pathname.slice(1), endpoint: `${protocol}//${host}`, region: "us-east-1", ...credentials })
  adapters["the bucket at TEST_S3_URL"] = { open, litter: async () => {} }
  afterAll(() => open().remove(made))
}

/** A finished file, as an upload leaves it. */
async function finished(content: string | Buffer) {
  const path = join(folder, v7())
  await writeFile(path, content)
  return path
}

/** The keys of this run: a given bucket may have files that somebody needs. */
const made: string[] = []
const newKey = () => {
  made.push(`${v7()}/${v7()}`)
  return made.at(-1)!
}
const all = async (storage: Storage) => {
  const files: StoredFile[] = []
  for await (const page of storage.list()) files.push(...page)
  return files
}

describe.each(Object.entries(adapters))("a storage: %s", (_name, { open, litter }) => {
  it("returns what was stored", async () => {
    const [storage, key] = [open(), newKey()]
    await storage.put(key, await finished("Hello, world"))
    expect(await text((await storage.read(key))!)).toBe("Hello, world")
  })

  it("keeps every byte of 25 MB", async () => {
    const [storage, key] = [open(), newKey()]
    const bytes = Buffer.alloc(25 * 1024 * 1024, "0123456789abcdef\u00ff")
    await storage.put(key, await finished(bytes))
    const chunks: Buffer[] = []
    for await (const chunk of (await storage.read(key))!) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
  })

  it("returns a range, both ends included", async () => {
    const [storage, key] = [open(), newKey()]
    await storage.put(key, await finished("0123456789"))
    expect(await text((await storage.read(key, { start: 2, end: 4 }))!)).toBe("234")
    expect(await text((await storage.read(key, { start: 9, end: 9 }))!)).toBe("9")
  })

  it("reports a missing file", async () => {
    expect(await open().read(newKey())).toBeNull()
    expect(await open().read(newKey(), { start: 0, end: 1 })).toBeNull()
  })

  it("deletes files, also missing ones", async () => {
    const [storage, first, second] = [open(), newKey(), newKey()]
    await storage.put(first, await finished("a"))
    await storage.put(second, await finished("b"))
    await storage.remove([first, newKey(), second])
    expect([await storage.read(first), await storage.read(second)]).toEqual([null, null])
    await storage.remove([first])
    await storage.remove([])
  })

  it("lists all of its own files with their time, and no others", async () => {
    const storage = open()
    const earlier = new Set((await all(storage)).map((file) => file.key))
    const keys = [newKey(), newKey(), newKey(), newKey(), newKey()]
    const before = Date.now() - 2_000
    for (const key of keys) await storage.put(key, await finished(key))
    await litter()
    const files = (await all(storage)).filter(({ key }) => !earlier.has(key))
    expect(files.map((file) => file.key).sort()).toEqual(keys.sort())
    for (const { storedAt } of files) expect(storedAt.getTime()).toBeGreaterThan(before)
  })
})

describe("disk", () => {
  it("lists nothing at first", async () => {
    expect(await all(diskStorage(join(folder, "nowhere")))).toEqual([])
  })

  it.each(["../secrets.json", `${v7()}/../../secrets`, "tmp/x", ""])("takes no other key: %s", async (key) => {
    const storage = diskStorage(join(folder, "media"))
    await expect(storage.put(key, await finished("x"))).rejects.toThrow(/no key/)
    expect(() => storage.read(key)).toThrow(/no key/)
  })

  it("moves the file, so that nobody reads half of it", async () => {
    const [storage, key, path] = [diskStorage(join(folder, "media")), newKey(), await finished("whole")]
    const { ino } = await stat(path)
    await storage.put(key, path)
    expect((await stat(join(folder, "media", key))).ino).toBe(ino)
    await expect(stat(path)).rejects.toThrow(/ENOENT/)
    expect(await readdir(join(folder, "media", key.split("/")[0]!))).toEqual([key.split("/")[1]])
  })
})

describe("s3", () => {
  it.each([
    ["a server error", [500]],
    ["two of them", [503, 500]],
    ["a cut connection", ["reset" as const]],
  ])("puts a file again after %s", async (_name, faults) => {
    const [storage, key] = [s3Storage(bucket()), newKey()]
    s3.fail("PUT", ...faults)
    await storage.put(key, await finished("Hello"))
    expect(s3.objects.get(`media/${key}`)!.bytes.toString()).toBe("Hello")
    expect(s3.asked.filter((asked) => asked === `PUT media/${key}`)).toHaveLength(faults.length + 1)
  })

  it("gives up after three tries, and at once when it is refused", async () => {
    const storage = s3Storage(bucket())
    s3.fail("PUT", 500, 500, 500)
    await expect(storage.put(newKey(), await finished("x"))).rejects.toThrow()
    s3.fail("PUT", 403)
    const key = newKey()
    await expect(storage.put(key, await finished("x"))).rejects.toThrow()
    expect(s3.asked.filter((asked) => asked.endsWith(key))).toHaveLength(1)
  })

  it("retries reads and deletions after a fault, and a fault is not a missing file", async () => {
    const [storage, key] = [s3Storage(bucket()), newKey()]
    await storage.put(key, await finished("Hello"))
    s3.fail("GET", 503)
    expect(await text((await storage.read(key))!)).toBe("Hello")
    s3.fail("GET", 500, 500, 500)
    await expect(storage.read(key)).rejects.toThrow()
    s3.fail("DELETE", "reset")
    await storage.remove([key])
    expect(s3.objects.has(`media/${key}`)).toBe(false)
  })

  it("is refused with a wrong secret, and a missing bucket is not a missing file", async () => {
    const [stranger, key] = [s3Storage({ ...bucket(), secretAccessKey: "wrong" }), newKey()]
    await expect(stranger.put(key, await finished("x"))).rejects.toThrow("The bucket answered 403 SignatureDoesNotMatch")
    s3.fail("PUT", 404)
    await expect(s3Storage(bucket()).put(key, await finished("x"))).rejects.toThrow("The bucket answered 404 InternalError")
    expect(s3.objects.has(`media/${key}`)).toBe(false)
  })

  it("closes the connection of an unread response", async () => {
    const [storage, key] = [s3Storage(bucket()), newKey()]
    await storage.put(key, await finished("Hello"))
    for (let index = 0; index < 100; index += 1) await storage.remove([newKey()])
    for (let index = 0; index < 100; index += 1) expect(await storage.read(newKey())).toBeNull()
    expect(await text((await storage.read(key))!)).toBe("Hello")
  })
})
