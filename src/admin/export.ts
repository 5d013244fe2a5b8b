import { systemContext } from "../context/request-context.js"
import { withMedia } from "../context/snapshot.js"
import type { PlainRow } from "../database/read-model.js"
import { readerOnPool } from "../database/reader.js"
import { clock } from "../entities/kit/clock.js"
import { OperationEngine } from "../graphql/engine.js"
import { inRestWords, platformSchema } from "../graphql/schema.js"
import { withFields } from "../rest/kit/fragments.js"
import { representer } from "../rest/kit/representation.js"
import { findCustomer } from "./customer.js"
import { copyFile, type ExportLine, type ExportState, notOurs, openExport, pathOfCopy, readExport } from "./export-file.js"
import { companyKinds, customerKinds, type ExportedKind, pagesOf } from "./export-kinds.js"
import { type CommandContext, Refusal } from "./kit.js"
import { commandServices } from "./services.js"

/** What an export holds: the data of a company, or of one of its customers. */
export interface Exported {
  command: string
  companyId: string
  customer: string | null
}

/** Writes an export, or continues it behind its last complete line, and returns its receipt; of a finished one only the receipt. */
export async function exportTo(desk: CommandContext, exported: Exported, path: string): Promise<object> {
  const begun = await readExport(path)
  const { command, companyId, customer } = begun.header ?? exported
  if (command !== exported.command || companyId !== exported.companyId || customer !== exported.customer) throw notOurs(path)
  if (!begun.finishedAt) await continueExport(desk, exported, path, begun)
  const { header, records, files, finishedAt, bytes, sha256 } = begun.finishedAt ? begun : await readExport(path)
  return { ...exported, file: path, startedAt: header!.startedAt, finishedAt, records, files, bytes, sha256 }
}

async function continueExport(desk: CommandContext, exported: Exported, path: string, { header, last, bytes }: ExportState) {
  await using stack = new AsyncDisposableStack()
  const services = await commandServices(desk, stack)
  const { companyId, customer } = exported
  const urlOf = (id: string) => pathOfCopy(path, id)
  const reader = readerOnPool(desk.database, [companyId], urlOf)
  const of = customer === null ? null : await findCustomer(reader, customer)
  if (of && of.chatIds.length === 0 && of.callIds.length === 0)
    throw new Refusal(`No private chat of the company has a customer with the name ${customer}`)
  const schema = inRestWords(platformSchema(desk.database.orm))
  const engine = new OperationEngine()
  const represent = representer(engine, schema, (row) => withMedia(row, urlOf))
  const lineOf = async (kind: ExportedKind, row: PlainRow): Promise<ExportLine> => {
    const record = represent(kind, row) as ExportLine["record"]
    if (kind !== "Media") return { kind, record }
    return { kind, record, file: await copyFile(services.storage, row["storageKey"] as string, path, row.id) }
  }

  const file = await openExport(path, bytes)
  stack.defer(() => file.close())
  if (!header) await file.append([{ kind: "Export", format: 1, ...exported, startedAt: clock.now() }])
  if (!of && !last) {
    const query = withFields("query ($id: UUID!) { company(id: $id) { ...Company } }")
    const result = await engine.prepare(schema, { query }).run(systemContext(services, companyId), { id: companyId })
    if (result.errors?.[0]) throw result.errors[0]
    await file.append([{ kind: "Company", record: result.data!["company"] }])
  }
  const kinds: readonly ExportedKind[] = of ? customerKinds : companyKinds
  const first = Math.max(0, kinds.indexOf(last?.kind as ExportedKind))
  for (const kind of kinds.slice(first)) {
    for await (const page of pagesOf(reader, kind, of, kind === last?.kind ? last.record : null)) {
      const lines: ExportLine[] = []
      for (const row of page) lines.push(await lineOf(kind, row))
      await file.append(lines)
    }
  }
  await file.finish(clock.now())
}
