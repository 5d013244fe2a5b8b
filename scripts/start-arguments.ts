import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The arguments that `npm start` of a checkout gives to Node: its flags, then the file. What measures or tests the server runs it alike. */
export function startArguments(directory: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { scripts: Record<string, string> }
  return /exec node (.+)$/.exec(scripts["start"]!)![1]!.split(" ")
}
