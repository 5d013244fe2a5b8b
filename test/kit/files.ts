import { chmodSync, mkdtempSync, readdirSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import supertest from "supertest"
import { forgetMedia } from "../../src/jobs/forget-media.js"
import { type Credential, headersOf } from "./clients.js"
import { happens, until } from "./wait.js"
import type { World } from "./world.js"

/** A new folder, removed after the test file; as the DATA_DIR of a world, `world({ DATA_DIR: folder })`, its path is known before the world is opened. */
export function folderOfItsOwn(): string {
  const folder = mkdtempSync(join(tmpdir(), "media-test-"))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Every file below a folder, both finished and unfinished uploads. */
export const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/**
 * Removes the unused files of a company whose removal is due. `forgetMedia` skips rows that are locked, as those are that a job of the server
 * looks at in the same moment: it is called until none is due, and the job's own removal is waited for.
 */
export async function forgetFiles(w: World, companyId: string): Promise<void> {
  const due = "select 1 from media where company_id = $1 and forget_at <= $2"
  await until("no file is due for removal", async () => {
    await forgetMedia(w.services, companyId)
    return (await w.sql(due, [companyId, w.clock.now()])).length === 0
  })
  await happens("no work is running", w.services.running.idle())
}

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex")
const padded = (bytes: Buffer, size = 2048) => Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length))])

/** A container of before 2007 with these streams at its root, and those inside a storage below it. */
export function compoundFile(streams: string[], below: string[] = []): Buffer {
  const names = ["Root Entry", ...streams, ...(below.length > 0 ? ["Storage"] : []), ...below]
  const entries = names.map((name, index) => {
    const entry = Buffer.alloc(128)
    entry.write(name, 0, "utf16le")
    entry.writeUInt16LE((name.length + 1) * 2, 64)
    const isStorage = name === "Storage"
    entry[66] = index === 0 ? 5 : isStorage ? 1 : 2
    const last = index === streams.length + (below.length > 0 ? 1 : 0) || index === names.length - 1
    entry.writeUInt32LE(0xffffffff, 68)
    entry.writeUInt32LE(index === 0 || last ? 0xffffffff : index + 1, 72)
    entry.writeUInt32LE(index === 0 ? 1 : isStorage ? index + 1 : 0xffffffff, 76)
    return entry
  })
  const sectors = Math.ceil(entries.length / 4)
  const header = Buffer.alloc(512, 0xff)
  hex("d0cf11e0a1b11ae1").copy(header)
  header.writeUInt16LE(9, 30)
  header.writeUInt32LE(1, 48)
  header.writeUInt32LE(0xfffffffe, 68)
  header.writeUInt32LE(0, 76)
  const table = Buffer.alloc(512, 0xff)
  table.writeUInt32LE(0xfffffffd, 0)
  for (let sector = 1; sector <= sectors; sector += 1) table.writeUInt32LE(sector === sectors ? 0xfffffffe : sector + 1, sector * 4)
  return Buffer.concat([header, table, padded(Buffer.concat(entries), sectors * 512)])
}

/** A ZIP archive with one uncompressed entry. */
export function zip(name: string, content = "x"): Buffer {
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(20, 4)
  local.writeUInt32LE(content.length, 18)
  local.writeUInt32LE(content.length, 22)
  local.writeUInt16LE(name.length, 26)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  return Buffer.concat([local, Buffer.from(name), Buffer.from(content), end])
}

const contentTypes = (main: string) =>
  zip("[Content_Types].xml", `<?xml version="1.0"?><Types><Override PartName="/x" ContentType="${main}.main+xml"/></Types>`)
const openOffice = (kind: string) => contentTypes(`application/vnd.openxmlformats-officedocument.${kind}`)

/** Small files whose content matches their name; the PNG is one that browsers draw. */
export const samples = {
  png: hex(
    "89504e470d0a1a0a 0000000d49484452 0000000100000001 0802000000 907753de 0000000c49444154 78da6338a0a0000002a40101ddb17481 0000000049454e44ae426082",
  ),
  jpeg: padded(hex("ffd8ffe000104a46494600010100000100010000")),
  gif: padded(Buffer.from("GIF89a\x01\x00\x01\x00\x80\x00\x00")),
  webp: padded(Buffer.concat([Buffer.from("RIFF"), hex("24000000"), Buffer.from("WEBPVP8 ")])),
  svg: Buffer.from('<?xml version="1.0"?>\n<!-- a picture -->\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  mp4: padded(Buffer.concat([hex("00000018"), Buffer.from("ftypisom"), hex("00000200"), Buffer.from("isomiso2")])),
  mp3: padded(Buffer.concat([Buffer.from("ID3"), hex("03000000000000"), hex("fffb9064")])),
  wav: padded(Buffer.concat([Buffer.from("RIFF"), hex("24000000"), Buffer.from("WAVEfmt ")])),
  ogg: padded(Buffer.concat([Buffer.from("OggS"), hex("0002 0000000000000000 00000000 00000000 00000000 0113"), Buffer.from("OpusHead")])),
  pdf: Buffer.concat([Buffer.from("%PDF-1.7\n"), hex("25e2e3cfd30a"), Buffer.from("1 0 obj\n")]),
  doc: compoundFile(["WordDocument", "1Table"]),
  xls: compoundFile(["Workbook"]),
  ppt: compoundFile(["Current User", "PowerPoint Document"]),
  docx: openOffice("wordprocessingml.document"),
  xlsx: openOffice("spreadsheetml.sheet"),
  pptx: openOffice("presentationml.presentation"),
  zip: zip("notes.txt"),
  txt: Buffer.from("Grüße\tand\r\nlines 🎈\n"),
  exe: padded(Buffer.concat([hex("4d5a90000300000004000000ffff0000"), Buffer.from("This program cannot be run in DOS mode")])),
  elf: padded(hex("7f454c4602010100000000000000000002003e0001000000")),
  msi: compoundFile(["!_StringPool", "!_Tables"]),
}

/** Uploads over REST, like a form of a browser. */
export const upload = (
  w: World,
  credential: Credential,
  bytes: Buffer,
  filename: string,
  contentType = "application/octet-stream",
  query = "",
) => supertest(w.url).post(`/api/media/upload${query}`).set(headersOf(credential)).attach("file", bytes, { filename, contentType })

export const uploadMutation =
  "mutation ($file: Upload!, $companyId: UUID, $key: String) { uploadMedia(file: $file, companyId: $companyId, idempotencyKey: $key) { id companyId filename mimeType size url createdAt updatedAt } }"

/** Uploads over GraphQL, by the multipart request specification. */
export const uploadByGraphql = (w: World, credential: Credential, bytes: Buffer, filename: string, variables: object = {}) =>
  supertest(w.url)
    .post("/graphql")
    .set(headersOf(credential))
    .field("operations", JSON.stringify({ query: uploadMutation, variables: { file: null, ...variables } }))
    .field("map", JSON.stringify({ 0: ["variables.file"] }))
    .attach("0", bytes, { filename, contentType: "application/octet-stream" })

/** A response without the signatures of its addresses, which differ each time. */
export const unsigned = (body: unknown) => JSON.parse(JSON.stringify(body).replace(/\?expires=[^"]*/g, ""))

/** Path and query of a file's address. */
export const pathOf = (url: string) => url.slice(url.indexOf("/media/"))

/** A new folder in another that every user can enter: PostgreSQL does not run as root. */
export function publicFolder(parent: string): string {
  const made = mkdtempSync(join(parent, "data-"))
  for (const each of [parent, made]) chmodSync(each, 0o755)
  return made
}
