import { setTimeout as sleep } from "node:timers/promises"
import { indexKnowledge } from "../../src/jobs/index-knowledge.js"
import { knowledgeLimits } from "../../src/knowledge/limits.js"
import { portLimits } from "../../src/ports/limits.js"
import { companyFixture, createCompany } from "../kit/company-fixture.js"
import { nestedPdf } from "../kit/documents.js"
import { processesOf } from "../kit/extractor-processes.js"
import { folderOfItsOwn, upload } from "../kit/files.js"
import { openSite } from "../kit/site.js"
import { type CompanyFixture, world } from "../kit/world.js"

const site = await openSite()
afterAll(() => site.close())
const w = world({ DATA_DIR: folderOfItsOwn() })
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
const becomes = async (condition: () => unknown) => {
  while (!(await condition())) await sleep(20)
}

/** Far below the deadlines of a page and of a document, and enough to start a process on a busy machine. */
const soonMs = 20_000

/** Uploads a small file of Globex, and waits until it is indexed. */
async function indexesSoon() {
  const begin = performance.now()
  const { id } = await fileItem(globex, Buffer.from("Goods may be returned within 30 days."), "returns.txt")
  while ((await stateOf(globex, id)) !== "indexed") {
    expect(performance.now() - begin).toBeLessThan(soonMs)
    await sleep(50)
  }
}
const processes = () => [...processesOf(w.services.extractor).keys()]

describe("the file of a company is indexed soon", () => {
  it("while crafted documents of another occupy all extractor processes", async () => {
    await Promise.all(Array.from({ length: 8 }, () => fileItem(acme, nestedPdf(), "crafted.pdf")))
    await becomes(() => processes().length === portLimits.extractionProcesses)
    await indexesSoon()
    // The text of this one is read before the request is answered.
    const begin = performance.now()
    const { resourceContent } = await fileItem(globex, Buffer.from("We ship on Mondays."), "shipping.txt", { isVector: false })
    expect(resourceContent).toBe("We ship on Mondays.")
    expect(performance.now() - begin).toBeLessThan(soonMs)
    // Otherwise the documents would hold slots in the next test, and free them in the middle of it.
    await w.sql("delete from knowledge where company_id = $1", [acme.id])
    await becomes(() => {
      for (const child of processes()) child.kill("SIGKILL")
      return indexKnowledge.running(w.services) === 0
    })
  })

  it("while pages of others hang, on each of two instances", async () => {
    const second = await w.another({ DATA_DIR: w.services.config.dataDir })
    site.pages["/hangs"] = () => {}
    await Promise.all(Array.from({ length: 60 }, () => pageItem(acme, "/hangs")))
    const atOnce = () => [w, second].map(({ services }) => indexKnowledge.running(services))
    const { shared, instance } = knowledgeLimits.indexingSlots
    await becomes(async () => {
      // The job that starts a sweep runs in one instance at a time, which may be the same one for long.
      for (const { services } of [w, second]) await indexKnowledge.sweep.run(services)
      return atOnce().every((count) => count === shared)
    })
    const others = ["Initech", "Umbrella"].map(async (name) => companyFixture(w, await createCompany(w.services, name)))
    for (const other of await Promise.all(others)) await Promise.all(Array.from({ length: 20 }, () => pageItem(other, "/hangs")))
    await becomes(() => atOnce()[0]! >= shared + others.length)
    await indexesSoon()
    for (const count of atOnce()) expect(count).toBeLessThan(instance)
    await second.stop()
  })
})
