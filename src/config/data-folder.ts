import { accessSync, constants, mkdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { operatorError } from "../errors/operator-error.js"

/** Creates a folder for data unless it exists; throws an error for the operator when it cannot be written. */
export function dataFolder(path: string): void {
  try {
    makeFolder(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === "EEXIST" || code === "ENOTDIR" ? "it, or a part of its path, is a file" : message
    throw operatorError(`DATA_DIR: the folder ${path} cannot be used: ${why}`, error)
  }
}

/** The folder of files in DATA_DIR, which the first file creates; throws an error for the operator when that would fail. */
export function mediaFolder(dataDir: string): string {
  dataFolder(dataDir)
  const media = join(dataDir, "media")
  if (statSync(media, { throwIfNoEntry: false })) dataFolder(media)
  return media
}

/** Creates a folder and its parents. Node's `recursive` never returns where a parent cannot hold folders, such as /proc. */
function makeFolder(path: string): void {
  if (isFolder(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have created it in between.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(path)) throw error
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
