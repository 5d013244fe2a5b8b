import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The arguments that `npm start` of a checkout gives to Node: its flags, then the file. What measures or tests the server runs it alike. */
export function startArguments(directory: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { scripts: Record<string, string> }
  return /exec node (.+)$/.exec(scripts["start"]!)![1]!.split(" ")
}

/** The same for the modules of the build before they are bundled: what replaces a function of a package finds the package that the server uses. */
export const unbundled = (args: string[]): string[] => args.map((each) => each.replace("dist/server/main.js", "dist/src/main.js"))
