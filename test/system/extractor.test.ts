import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { DocumentProcesses } from "../../src/ports/extractor/processes.js"
import { ExtractionFailure, formatOf } from "../../src/ports/extractor.js"
import { pdf } from "../kit/documents.js"
import { processesOf } from "../kit/extractor-processes.js"
import { duration, pace } from "../kit/pace.js"
import { happens, until } from "../kit/wait.js"

const extractor = new DocumentProcesses()
const company = "a company"
afterAll(() => extractor.close())
const { signal } = new AbortController()
const html = (body: string, wanted = signal) => extractor.text(company, { bytes: Buffer.from(body), type: "text/html" }, wanted)
/** A document whose parsing takes minutes. */
const poison = `${"<div>".repeat(100_000)}x`

describe("a malicious document", () => {
  it("blocks neither this process nor other documents, and is aborted on request", async () => {
    const stop = new AbortController()
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const poisoned = html(poison, stop.signal).catch((error) => error)
    const others = await Promise.all(Array.from({ length: 5 }, (_, index) => html(`<p>Page ${index}</p>`)))
    delay.disable()
    expect(others).toEqual(["Page 0", "Page 1", "Page 2", "Page 3", "Page 4"])
    await pace("the longest turn of the event loop beside a malicious document", 750, "ms", () => delay.max / 1e6)
    await pace("a document is aborted", 750, "ms", () =>
      duration(async () => {
        stop.abort()
        const failure = { name: "ExtractionFailure", message: "was not read: that was stopped", isWorthRetrying: true }
        expect(await happens("the document is not read further", poisoned)).toMatchObject(failure)
      }),
    )
    expect(await html("<p>And after it</p>")).toBe("And after it")
  })

  it("fails at the deadline, and its process is ended", async () => {
    const strict = new DocumentProcesses(3_000)
    const all = processesOf(strict)
    const failed = strict.text(company, { bytes: Buffer.from(poison), type: "text/html" }, signal).catch((error) => error)
    expect(await failed).toMatchObject({ name: "ExtractionFailure", message: "takes too long to be read", isWorthRetrying: false })
    await until("the process has ended", () => all.size === 0)
    expect(all.size).toBe(0)
    await strict.close()
  })

  it("of a company that occupies every process is interrupted for another company, and read again", async () => {
    const own = new DocumentProcesses(8_000)
    const read = (companyId: string, body: string) => own.text(companyId, { bytes: Buffer.from(body), type: "text/html" }, signal)
    const poisoned = ["a", "a"].map((companyId) => read(companyId, poison).catch((error) => error.message))
    expect(await read("b", "<p>Of another company</p>")).toBe("Of another company")
    expect(await Promise.all(poisoned)).toEqual(Array(2).fill("takes too long to be read"))
    await own.close()
  })

  it("that needs too much memory ends only its own process", async () => {
    const failure = await extractor.split(company, "x ".repeat(40_000_000), { size: 200, overlap: 0 }, signal).catch((error) => error)
    expect(failure).toBeInstanceOf(ExtractionFailure)
    expect(failure).toMatchObject({ message: "needs too much memory to be read", isWorthRetrying: false })
    expect(await html("<p>And after it</p>")).toBe("And after it")
  })

  it("is not read further when the server is gone", async () => {
    const script = `
      import { DocumentProcesses } from "./dist/src/ports/extractor/processes.js"
      const extractor = new DocumentProcesses()
      extractor.text("a company", { bytes: Buffer.from(${JSON.stringify("<div>")}.repeat(100000)), type: "text/html" }, new AbortController().signal)
      const look = () => {
        const [child] = extractor.processes.all.keys()
        if (child?.pid) console.log(child.pid)
        else setTimeout(look, 10)
      }
      look()`
    const server = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] })
    const pid = Number(String((await happens("the process has started", once(server.stdout, "data")))[0]))
    const lives = () => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    }
    // It needs less than a second of CPU to start.
    const cpu = () => execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" }).trim()
    await until("the process reads the document", () => /[1-9]/.test(cpu().replace(/\..*/, "")), cpu)
    expect(lives()).toBe(true)
    server.kill("SIGKILL")
    await until("the process has ended", () => !lives())
    expect(lives()).toBe(false)
  })
})

describe("the processes", () => {
  it("are kept for the next document, two at most, and end with the server", async () => {
    const own = new DocumentProcesses()
    const processes = processesOf(own)
    const read = () => own.text(company, { bytes: Buffer.from("words"), type: "text/plain" }, signal)
    await Promise.all(Array.from({ length: 6 }, read))
    const [one, two, ...more] = [...processes.keys()].map(({ pid }) => pid)
    expect([typeof one, typeof two, more]).toEqual(["number", "number", []])
    await read()
    expect([...processes.keys()].map(({ pid }) => pid)).toEqual([one, two])
    await own.close()
    await until("both processes have ended", () => processes.size === 0)
    expect(processes.size).toBe(0)
  })
})

describe("a split text", () => {
  const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`)

  it("has chunks of at most the size, with at most the overlap, and every word in order", async () => {
    const chunks = await extractor.split(company, words.join(" "), { size: 300, overlap: 60 }, signal)
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(300)
    let next = 0
    for (const chunk of chunks) {
      const own = chunk.split(" ")
      const first = words.indexOf(own[0]!)
      expect(first).toBeLessThanOrEqual(next)
      expect(words.slice(first, next).join(" ").length).toBeLessThanOrEqual(60)
      expect(own).toEqual(words.slice(first, first + own.length))
      next = first + own.length
    }
    expect(next).toBe(words.length)
  })

  it("is cut before headings, between paragraphs and after sentences, rather than within them", async () => {
    const section = (name: string) => `## ${name}\n\n${`${name} is described here. `.repeat(6).trim()}`
    const text = ["Fees", "Times", "Ways"].map(section).join("\n\n")
    const chunks = await extractor.split(company, text, { size: 200, overlap: 0 }, signal)
    expect(chunks).toEqual(["Fees", "Times", "Ways"].map(section))
    for (const chunk of await extractor.split(company, text.replaceAll("\n", " "), { size: 200, overlap: 0 }, signal))
      expect(chunk).toMatch(/\.$/)
  })

  it.each([
    ["letters without spaces", "字".repeat(5_000)],
    ["pictures of two halves", "🎈".repeat(5_000)],
  ])("of %s is cut between them", async (_what, text) => {
    const chunks = await extractor.split(company, text, { size: 201, overlap: 0 }, signal)
    expect(chunks.every((chunk) => !/\p{Cs}/u.test(chunk) && chunk.length <= 201)).toBe(true)
    if (text.startsWith("字")) expect(chunks.join("")).toBe(text)
  })

  it("has no chunk without a letter or digit", async () => {
    expect(await extractor.split(company, "---\n\n***", { size: 200, overlap: 0 }, signal)).toEqual([])
  })
})

describe("types", () => {
  it.each([
    ["application/pdf", "pdf"],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
    ["application/vnd.ms-word.document.macroenabled.12", "docx"],
    ["application/vnd.openxmlformats-officedocument.spreadsheetml.template", "xlsx"],
    ["application/vnd.ms-excel.sheet.macroenabled.12", "xlsx"],
    ["application/vnd.openxmlformats-officedocument.presentationml.slideshow", "pptx"],
    ["application/vnd.ms-powerpoint.presentation.macroenabled.12", "pptx"],
    ["text/csv", "csv"],
    ["text/html", "html"],
    ["application/json", "text"],
    ["image/svg+xml", null],
    ["application/msword", null],
    ["application/vnd.ms-excel", null],
    ["application/zip", null],
    ["video/mp4", null],
  ])("%s is read as %s", (type, format) => expect(formatOf(type)).toBe(format))

  it("of a PDF is detected only from its bytes", async () => {
    const text = await extractor.text(company, { bytes: pdf([["In a PDF."]]), type: "application/pdf" }, signal)
    expect(text).toBe("In a PDF.")
  })
})
