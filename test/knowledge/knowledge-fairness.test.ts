import { indexKnowledge } from "../../src/jobs/index-knowledge.js"
import { knowledgeLimits } from "../../src/knowledge/limits.js"
import { portLimits } from "../../src/ports/limits.js"
import { companyFixture, createCompany } from "../kit/company-fixture.js"
import { nestedPdf } from "../kit/documents.js"
import { processesOf } from "../kit/extractor-processes.js"
import { upload } from "../kit/files.js"
import { duration, pace } from "../kit/pace.js"
import { openSite } from "../kit/site.js"
import { until } from "../kit/wait.js"
import { type CompanyFixture, world } from "../kit/world.js"

const site = await openSite()
afterAll(() => site.close())
const w = world()
const { acme, globex, rest } = w

const path = "/api/assistant-knowledge-new"
const item = (company: CompanyFixture, more: object) =>
  company.makeKnowledge({ assistantId: company.assistant.id, isVector: true, ...more })
const fileItem = async (company: CompanyFixture, bytes: Buffer, filename: string, more: object = {}) => {
  const { body } = await upload(w, company.token, bytes, filename).expect(201)
  return item(company, { kind: "file", resourceContent: undefined, fileId: body.id, ...more })
}
const pageItem = (company: CompanyFixture, page: string) =>
  item(company, { kind: "url", resourceContent: undefined, resourceUrl: site.url + page })
const stateOf = async (company: CompanyFixture, id: string) =>
  (await rest.as(company.token).get(`${path}/${id}`).expect(200)).body.indexStatus

/** Far below the deadlines of a page and of a document, and enough to start a process. */
const soonMs = 5_000

/** Uploads a small file of Globex, and waits until it is indexed. */
const indexesSoon = (besides: string) =>
  pace(`a small file is indexed beside ${besides}`, soonMs, "ms", () =>
    duration(async () => {
      const { id } = await fileItem(globex, Buffer.from("Goods may be returned within 30 days."), "returns.txt")
      await until("the file is indexed", async () => (await stateOf(globex, id)) === "indexed")
    }),
  )
const processes = () => [...processesOf(w.services.extractor).keys()]

describe("the file of a company is indexed soon", () => {
  it("while crafted documents of another occupy all extractor processes", async () => {
    await Promise.all(Array.from({ length: 8 }, () => fileItem(acme, nestedPdf(), "crafted.pdf")))
    await until("all extractor processes are busy", () => processes().length === portLimits.extractionProcesses)
    await indexesSoon("crafted documents")
    // The text of this one is read before the request is answered.
    await pace("a small file is read beside crafted documents", soonMs, "ms", () =>
      duration(async () => {
        const { resourceContent } = await fileItem(globex, Buffer.from("We ship on Mondays."), "shipping.txt", { isVector: false })
        expect(resourceContent).toBe("We ship on Mondays.")
      }),
    )
    // Otherwise the documents would hold slots in the next test, and free them in the middle of it.
    await w.sql("delete from knowledge where company_id = $1", [acme.id])
    await until("no indexing is running", () => {
      for (const child of processes()) child.kill("SIGKILL")
      return indexKnowledge.running(w.services) === 0
    })
  })

  it("while pages of others hang, on each of two instances", async () => {
    const second = await w.another()
    site.pages["/hangs"] = () => {}
    await Promise.all(Array.from({ length: 60 }, () => pageItem(acme, "/hangs")))
    const atOnce = () => [w, second].map(({ services }) => indexKnowledge.running(services))
    const { shared, instance } = knowledgeLimits.indexingSlots
    await until("each instance indexes as many pages of a company as it may", async () => {
      // The job that starts a sweep runs in one instance at a time, which may be the same one for long.
      for (const { services } of [w, second]) await indexKnowledge.sweep.run(services)
      return atOnce().every((count) => count === shared)
    })
    const others = ["Initech", "Umbrella"].map(async (name) => companyFixture(w, await createCompany(w.services, name)))
    for (const other of await Promise.all(others)) await Promise.all(Array.from({ length: 20 }, () => pageItem(other, "/hangs")))
    await until("pages of the other companies are being indexed", () => atOnce()[0]! >= shared + others.length, atOnce)
    await indexesSoon("pages that hang")
    for (const count of atOnce()) expect(count).toBeLessThan(instance)
    await second.stop()
  })
})
