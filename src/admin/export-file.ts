import { createHash } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { mkdir, open, rename, truncate } from "node:fs/promises"
import { basename, join } from "node:path"
import { pipeline } from "node:stream/promises"
import type { Storage } from "../ports/storage.js"
import { Refusal } from "./kit.js"

/** Permissions of an export: only its owner reads it. */
const ownerOnly = 0o600

/** The first line of an export. */
interface ExportHeader {
  kind: "Export"
  format: 1
  command: string
  companyId: string
  customer: string | null
  startedAt: string
}

/** A line of an export: a record as REST shows it, and of an uploaded file the copy beside the export, null when it was deleted meanwhile. */
export interface ExportLine {
  kind: string
  record: { id: string; [field: string]: unknown }
  file?: { path: string; bytes: number; sha256: string } | null
}

/** What the complete lines of an export hold. */
export interface ExportState {
  header: ExportHeader | null
  /** The last record; null when there is none. */
  last: ExportLine | null
  /** Number of records by kind. */
  records: Record<string, number>
  files: { count: number; bytes: number }
  finishedAt: string | null
  bytes: number
  sha256: string
}

/** Reads an export; a last line that is incomplete, because the command was killed, does not count. */
export async function readExport(path: string): Promise<ExportState> {
  const state: ExportState = {
    header: null,
    last: null,
    records: {},
    files: { count: 0, bytes: 0 },
    finishedAt: null,
    bytes: 0,
    sha256: "",
  }
  const hash = createHash("sha256")
  let incomplete = 0
  for await (const { line, isComplete } of linesOf(path)) {
    if (!isComplete) incomplete = line.length
    else {
      hash.update(line)
      state.bytes += line.length
      take(state, parsedLine(line))
    }
  }
  if (!state.header && incomplete > 0) throw notOurs(path)
  if (state.bytes > 0 && state.header?.kind !== "Export") throw notOurs(path)
  return { ...state, sha256: hash.digest("hex") }
}

/** The error for a file that this command must not change. */
export const notOurs = (path: string) => new Refusal(`${path} is not an export of this command with these options: give another --file`)

type AnyLine = ExportHeader | ExportLine | { kind: "End"; finishedAt: string }

function take(state: ExportState, line: AnyLine | null) {
  if (!state.header) state.header = line as ExportHeader | null
  else if (line && "finishedAt" in line) state.finishedAt = line.finishedAt
  else if (line && "record" in line) {
    state.last = line
    state.records[line.kind] = (state.records[line.kind] ?? 0) + 1
    if (line.file) state.files = { count: state.files.count + 1, bytes: state.files.bytes + line.file.bytes }
  }
}

function parsedLine(line: Buffer): AnyLine | null {
  try {
    return JSON.parse(line.toString())
  } catch {
    return null
  }
}

/** The lines of a file, each with its line feed. Node's readline would also split at U+2028, which JSON does not escape. */
async function* linesOf(path: string): AsyncGenerator<{ line: Buffer; isComplete: boolean }> {
  let rest: Buffer[] = []
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        yield { line: Buffer.concat([...rest, chunk.subarray(from, end + 1)]), isComplete: true }
        rest = []
        from = end + 1
      }
      rest.push(chunk.subarray(from))
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return
    throw unusable(path, error)
  }
  const line = Buffer.concat(rest)
  if (line.length > 0) yield { line, isComplete: false }
}

const unusable = (path: string, error: unknown) => new Refusal(`${path} cannot be used: ${(error as NodeJS.ErrnoException).code}`)

/** Opens an export behind its complete lines; only its owner can read it. */
export async function openExport(path: string, bytes: number) {
  const file = await open(path, "a", ownerOnly).catch((error) => {
    throw unusable(path, error)
  })
  await truncate(path, bytes)
  return {
    append: (lines: object[]) => file.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
    /** Writes everything to the disk and the last line. */
    async finish(finishedAt: Date) {
      await file.sync()
      await file.appendFile(`${JSON.stringify({ kind: "End", finishedAt })}\n`)
      await file.sync()
    },
    close: () => file.close(),
  }
}

/** The path of the copy of an uploaded file, relative to the folder of the export. */
export const pathOfCopy = (path: string, id: string) => `${basename(path)}.media/${id}`

/** Copies an uploaded file beside the export; null when it does not exist any more. */
export async function copyFile(storage: Storage, key: string, path: string, id: string): Promise<ExportLine["file"]> {
  const source = await storage.read(key)
  if (!source) return null
  await mkdir(`${path}.media`, { recursive: true, mode: ownerOnly | 0o100 })
  const target = join(path, "..", pathOfCopy(path, id))
  const hash = createHash("sha256")
  let bytes = 0
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  await pipeline(source, counted, createWriteStream(`${target}.part`, { mode: ownerOnly }))
  await rename(`${target}.part`, target)
  return { path: pathOfCopy(path, id), bytes, sha256: hash.digest("hex") }
}
