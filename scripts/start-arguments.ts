import { readFileSync } from "node:fs"
import { join } from "node:path"

function startScript(directory: string): string {
  const { scripts } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { scripts: Record<string, string> }
  return scripts["start"]!
}

/** The arguments that `npm start` of a checkout gives to Node: its flags, then the file. What measures or tests the server runs it alike. */
export function startArguments(directory: string): string[] {
  return /exec node (.+)$/.exec(startScript(directory))![1]!.split(" ")
}

/** The environment variables that `npm start` of a checkout sets for Node: those of its C library's allocator. */
export function startEnvironment(directory: string): Record<string, string> {
  const settings = /((?:\w+=\S+ )*)exec node/.exec(startScript(directory))![1]!
  return Object.fromEntries([...settings.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]))
}

/** The same for the modules of the build before they are bundled: what replaces a function of a package finds the package that the server uses. */
export const unbundled = (args: string[]): string[] => args.map((each) => each.replace("dist/server/main.js", "dist/src/main.js"))
