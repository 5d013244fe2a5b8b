import { accessSync, constants, mkdirSync } from "node:fs"
import { operatorError } from "./operator-error.js"

/** Creates a folder for data unless it exists; throws an error for the operator when it cannot be written. */
export function dataFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === "EEXIST" || code === "ENOTDIR" ? "it, or a part of its path, is a file" : message
    throw operatorError(`DATA_DIR: the folder ${path} cannot be used: ${why}`, error)
  }
}
