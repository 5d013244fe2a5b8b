import { entityLimits } from "../../src/entities/limits.js"
import { retention } from "../../src/jobs/retention.js"
import { brokenPdf, encryptedPdf, pdf, presentation, wordDocument, workbook, zipBomb } from "../kit/documents.js"
import { forgetFiles, samples, upload } from "../kit/files.js"
import { indexAll, knowledgeOf } from "../kit/knowledge.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, sql } = w
const { path, look, change, remove, kept } = knowledgeOf(w)
const time = stillTime()
beforeAll(() => stopScheduler(w))

const file = async (bytes: Buffer, filename: string, company = acme) =>
  (await upload(w, company.token, bytes, filename).expect(201)).body as { id: string; mimeType: string }
const item = (fileId: string, more: object = {}) => acme.makeKnowledge({ kind: "file", resourceContent: undefined, fileId, ...more })
const refusal = async (fileId: string, more: object = {}) => {
  const fields = { assistantId: acme.assistant.id, name: "Notes", kind: "file", fileId, ...more }
  return (await rest.as(acme.token).post(path, fields).expect(400)).body.details
}
const ofFile = (message: string) => [{ path: "fileId", message }]

describe("the text of a file", () => {
  it.each([
    [
      "Word",
      "returns.docx",
      () => wordDocument(["# Returns", "Goods <new> may be returned & exchanged."]),
      "# Returns\n\nGoods <new> may be returned & exchanged.",
    ],
    [
      "Excel",
      "fees.xlsx",
      () =>
        workbook({
          Fees: [
            ["Country", "Fee"],
            ["France", 5.9],
            ["Spain", ""],
          ],
          Notes: [["Only one cell"]],
        }),
      "# Fees\n\n- Country: France; Fee: 5.9\n- Country: Spain\n\n# Notes\n\n- Only one cell",
    ],
    ["PowerPoint", "talk.pptx", () => presentation([["Welcome", "To the shop"], ["Goodbye"]]), "Welcome\n\nTo the shop\n\nGoodbye"],
    ["PDF", "terms.pdf", () => pdf([["Gr\u00fc\u00dfe from page one."], ["And page two."]]), "Grüße from page one.\n\nAnd page two."],
    ["CSV", "fees.csv", () => Buffer.from('Country;Fee\n"France; south";5,90\n'), "- Country: France; south; Fee: 5,90"],
    ["text", "notes.txt", () => Buffer.from("\ufeffFirst line.\r\n\r\n\r\n\r\nSecond line.  \n"), "First line.\n\nSecond line."],
  ])("of %s is what it says", async (_format, filename, bytes, text) => {
    const { id: fileId } = await file(bytes(), filename)
    expect(await item(fileId)).toMatchObject({ isVector: false, indexStatus: null, resourceContent: text, file: { filename } })
  })

  it("is sent to the model unchanged, or searched", async () => {
    const { id: fileId } = await file(wordDocument(["A fact."]), "fact.docx")
    const { id } = await item(fileId, { isVector: true })
    expect(await look(id)).toMatchObject({ indexStatus: "pending", resourceContent: null })
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "indexed", chunkCount: 1, resourceContent: "A fact." })
    expect(await change(id, { isVector: false })).toMatchObject({ indexStatus: null, chunkCount: 0, resourceContent: "A fact." })
    expect(await kept(id)).toEqual([])
  })

  it("is read when an item that was searchable, and never indexed, is sent to the model instead", async () => {
    const { id: fileId } = await file(wordDocument(["A fact."]), "fact.docx")
    const { id } = await item(fileId, { isVector: true })
    expect(await change(id, { isVector: false })).toMatchObject({ indexStatus: null, resourceContent: "A fact." })
  })

  it("changes with the file", async () => {
    const [one, two] = [await file(wordDocument(["One."]), "one.docx"), await file(wordDocument(["Two."]), "two.docx")]
    const given = await item(one.id)
    expect(await change(given.id, { fileId: two.id })).toMatchObject({
      fileId: two.id,
      resourceContent: "Two.",
      file: { filename: "two.docx" },
    })
    const searched = await item(one.id, { isVector: true })
    await indexAll(w)
    expect(await change(searched.id, { fileId: two.id })).toMatchObject({ indexStatus: "pending", resourceContent: null, chunkCount: 0 })
    await indexAll(w)
    expect((await kept(searched.id)).map(({ content }) => content)).toEqual(["Two."])
  })
})

/** Created once: large ones take long. */
const once = <T>(make: () => T) => {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const poisoned: [string, string, () => Buffer, string][] = [
  ["a broken PDF", "x.pdf", brokenPdf, "is no PDF that can be read: it is damaged or incomplete"],
  ["a PDF without its end", "x.pdf", () => pdf([["Cut off."]]).subarray(0, 300), "is no PDF that can be read: it is damaged or incomplete"],
  ["a PDF under a password", "x.pdf", encryptedPdf, "is protected by a password"],
  ["a PDF of pictures", "x.pdf", () => pdf([[]]), "has no text: pictures of pages are not read"],
  ["a Word file that is none", "x.docx", () => samples.docx, "is no Word file that can be read: it is damaged or incomplete"],
  ["a Word file that unpacks without end", "x.docx", once(() => zipBomb(300)), "unpacks to far more than a document holds"],
  ["a Word file of endless elements", "x.docx", once(() => zipBomb(50)), "is too large to be read: split it"],
  ["an empty workbook", "x.xlsx", () => workbook({ Empty: [] }), "has no text"],
  ["blank text", "x.txt", () => Buffer.from(" \n \n"), "has no text"],
]

describe("a file that cannot be read", () => {
  it.each(poisoned)("such as %s is refused when its text is to be given", async (_what, filename, bytes, reason) => {
    expect(await refusal((await file(bytes(), filename)).id)).toEqual(ofFile(`the file ${reason}`))
  })

  it.each(poisoned)("such as %s fails to be indexed", async (_what, filename, bytes, reason) => {
    const { id } = await item((await file(bytes(), filename)).id, { isVector: true })
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: `The file ${reason}`, chunkCount: 0 })
  })

  it.each([
    ["a picture", "x.png", samples.png, "holds no text (image/png): it must be a PDF, Word, Excel, PowerPoint, text or CSV file"],
    ["an archive", "x.zip", samples.zip, "holds no text (application/zip): it must be a PDF, Word, Excel, PowerPoint, text or CSV file"],
    ["a Word file of before 2007", "x.doc", samples.doc, "is a Word file of before 2007: save it as .docx"],
    ["an Excel file of before 2007", "x.xls", samples.xls, "is an Excel file of before 2007: save it as .xlsx"],
    ["a PowerPoint file of before 2007", "x.ppt", samples.ppt, "is a PowerPoint file of before 2007: save it as .pptx"],
  ])("since it is %s is refused at once", async (_what, filename, bytes, reason) => {
    const { id } = await file(bytes, filename)
    for (const isVector of [false, true]) expect(await refusal(id, { isVector })).toEqual(ofFile(`the file ${reason}`))
  })

  it("leaves the item that should get it unchanged", async () => {
    const made = await item((await file(wordDocument(["A fact."]), "fact.docx")).id)
    const { id: broken } = await file(brokenPdf(), "x.pdf")
    await rest.as(acme.token).patch(`${path}/${made.id}`, { fileId: broken }).expect(400)
    expect(await look(made.id)).toMatchObject({ fileId: made.fileId, resourceContent: "A fact." })
  })

  it("that is too long for the model has to be searchable", async () => {
    const { id } = await file(Buffer.from("word ".repeat(50_000)), "long.txt")
    expect(await refusal(id)).toEqual([{ path: "fileId", message: expect.stringMatching(/more than 200000 characters of text/) }])
    expect(await item(id, { isVector: true })).toMatchObject({ indexStatus: "pending" })
  })
})

describe("the file of an item", () => {
  const exists = async (id: string) => (await sql("select 1 from media where id = $1", [id])).length > 0
  const dayLater = async () => {
    time.pass(entityLimits.unattachedMediaSeconds * 1000 + 1_000)
    await retention.run(w.services)
  }

  it("is kept as long as the item exists, and deleted soon after", async () => {
    const { id: fileId } = await file(samples.txt, "notes.txt")
    const { id: unused } = await file(samples.txt, "unused.txt")
    const { id } = await item(fileId)
    await dayLater()
    expect([await exists(fileId), await exists(unused)]).toEqual([true, false])
    await remove(id)
    await forgetFiles(w, acme.id)
    expect(await exists(fileId)).toBe(false)
  })

  it("is deleted when another replaces it, and stays while a message or another item uses it", async () => {
    const [one, two] = [await file(samples.txt, "one.txt"), await file(samples.txt, "two.txt")]
    const [first, second] = [await item(one.id), await item(one.id)]
    const chat = await acme.chat()
    await acme.message({ chatId: chat.id, mediaIds: [two.id] })
    await change(first.id, { fileId: two.id })
    await forgetFiles(w, acme.id)
    expect([await exists(one.id), await exists(two.id)]).toEqual([true, true])
    await remove(second.id)
    await remove(first.id)
    await forgetFiles(w, acme.id)
    expect([await exists(one.id), await exists(two.id)]).toEqual([false, true])
    await sql("delete from chat where id = $1", [chat.id])
    await forgetFiles(w, acme.id)
    expect(await exists(two.id)).toBe(false)
  })

  it("is deleted with the assistant, and so are the item and its chunks", async () => {
    const assistant = await acme.makeAssistant()
    const { id: fileId } = await file(samples.txt, "notes.txt")
    const { id } = await item(fileId, { assistantId: assistant.id, isVector: true })
    await indexAll(w)
    expect(await kept(id)).toHaveLength(1)
    await sql("delete from assistant where id = $1", [assistant.id])
    await forgetFiles(w, acme.id)
    expect([await kept(id), await exists(fileId)]).toEqual([[], false])
  })

  it("belongs to the company", async () => {
    const { id } = await file(samples.txt, "notes.txt", globex)
    expect(await refusal(id)).toEqual(ofFile("names no file of this company"))
  })

  it("that is missing in the storage fails with that reason", async () => {
    const { id: fileId } = await file(samples.txt, "notes.txt")
    const [{ storage_key: key }] = await sql("select storage_key from media where id = $1", [fileId])
    await w.services.storage.remove([key])
    const { id } = await item(fileId, { isVector: true })
    await indexAll(w)
    expect(await look(id)).toMatchObject({ indexStatus: "failed", indexError: "The file is not in the storage any more" })
  })
})
