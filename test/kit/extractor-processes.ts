import type { ChildProcess } from "node:child_process"

/** The processes of an extractor. */
export const processesOf = (extractor: object) => (extractor as { processes: { all: Map<ChildProcess, number> } }).processes.all
