import { parseArgs } from "node:util"
import type { Size } from "./fill.js"
import { type Options, readOptions } from "./options.js"
import { earlierVersion } from "./requests.js"

/** The workload that measures others at two sizes, in turns. */
export const sizeWorkload = "S1"
const lists = "W1,W6,W2,W3,W4,W5"

/** The options of S1, with the workloads named beside it (`--workloads S1,W2`) or all of lists and of a written message; null for a run without S1. */
export function readSizeOptions(args: string[]): Options | null {
  const { values } = parseArgs({ args, strict: false, options: { workloads: { type: "string" } } })
  const named = String(values["workloads"] ?? "")
    .toUpperCase()
    .split(",")
  if (!named.includes(sizeWorkload)) return null
  // Of an option that is given twice, the last one counts.
  const options = readOptions([...args, "--workloads", named.filter((name) => name !== sizeWorkload).join() || lists])
  if (options.history || options.delivered) throw new Error(`${sizeWorkload} measures ${lists}`)
  if (values["writes"] !== undefined) throw new Error(`${sizeWorkload} is measured without --writes`)
  mustHaveTenth(options.size)
  return options
}

/** Throws when a tenth of a size is not a size, and when an earlier version is named: this one is measured at both sizes. */
export function mustHaveTenth(size: Size | null) {
  if (earlierVersion) throw new Error(`${sizeWorkload} measures this version only, so without BENCH_BEFORE`)
  if (!size || size.chats < 10_000 || size.chats % 10 !== 0)
    throw new Error(`${sizeWorkload} takes a tenth of the chats: --chats has to be at least 10000 and a multiple of ten`)
}
