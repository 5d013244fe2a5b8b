import { readFile } from "node:fs/promises"

/** The root stream that identifies a kind of document (MS-DOC, MS-XLS, MS-PPT). */
const kinds = new Map([
  ["WordDocument", "application/msword"],
  ["Workbook", "application/vnd.ms-excel"],
  ["Book", "application/vnd.ms-excel"],
  ["PowerPoint Document", "application/vnd.ms-powerpoint"],
])

const headerBytes = 1 << 9
const entryBytes = 1 << 7
const isStream = 2
// Larger numbers mark the end of a chain and sectors of other uses.
const lastSector = 0xfffffffa

/**
 * The type of a Word, Excel or PowerPoint file of before 2007, or undefined. They share their container (MS-CFB) with installers, mails and
 * others, and differ by the streams at the root of its directory.
 */
export async function officeBinaryType(path: string): Promise<string | undefined> {
  const directory = directoryOf(await readFile(path))
  const seen = new Set<number>()
  const open = [childOf(directory, 0)]
  while (open.length > 0) {
    const index = open.pop()!
    const at = index * entryBytes
    if (seen.has(index) || at + entryBytes > directory.length) continue
    seen.add(index)
    const kind = directory[at + 66] === isStream ? kinds.get(nameAt(directory, at)) : undefined
    if (kind) return kind
    open.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72))
  }
  return undefined
}

const childOf = (directory: Buffer, index: number) =>
  directory.length < (index + 1) * entryBytes ? lastSector : directory.readUInt32LE(index * entryBytes + 76)

function nameAt(directory: Buffer, at: number): string {
  const bytes = directory.readUInt16LE(at + 64)
  return bytes >= 2 && bytes <= 64 ? directory.toString("utf16le", at, at + bytes - 2) : ""
}

/** The entries of the container's directory, one after the other. */
function directoryOf(file: Buffer): Buffer {
  const shift = file.length > 76 ? file.readUInt16LE(30) : 0
  if (shift !== 9 && shift !== 12) return Buffer.alloc(0)
  const size = 1 << shift
  const sector = (number: number) => file.subarray((number + 1) * size, (number + 2) * size)
  const table = tableSectors(file, sector, size)
  const next = (number: number) => {
    const at = (number % (size / 4)) * 4
    const part = sector(table[Math.floor(number / (size / 4))] ?? lastSector)
    return part.length >= at + 4 ? part.readUInt32LE(at) : lastSector
  }
  return Buffer.concat(chain(file.readUInt32LE(48), next, file.length / size).map(sector))
}

/** The sectors of the allocation table: listed in the rest of the header, then in a chain of further sectors. */
function tableSectors(file: Buffer, sector: (number: number) => Buffer, size: number): number[] {
  const numbersIn = (part: Buffer) => Array.from({ length: Math.floor(part.length / 4) }, (_, index) => part.readUInt32LE(index * 4))
  const perSector = size / 4 - 1
  const next = (number: number) => (sector(number).length === size ? sector(number).readUInt32LE(perSector * 4) : lastSector)
  const more = chain(file.readUInt32LE(68), next, file.length / size)
  return [...numbersIn(file.subarray(76, headerBytes)), ...more.flatMap((number) => numbersIn(sector(number).subarray(0, perSector * 4)))]
}

/** The sectors of a chain in order; a cyclic chain ends where it would repeat. */
function chain(first: number, next: (number: number) => number, most: number): number[] {
  const numbers = new Set<number>()
  for (let number = first; number < lastSector && number < most && !numbers.has(number); number = next(number)) numbers.add(number)
  return [...numbers]
}
