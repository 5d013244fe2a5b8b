import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Returns a hash of the paths and contents of files below a folder. */
export function sealOf(folder: string, files: string[]): string {
  const hash = createHash("sha256")
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(folder, file)))
      .update("\0")
  return hash.digest("hex")
}

/** The source files directly in a folder below another, by their paths from there. */
export const sourcesIn = (folder: string, below: string): string[] =>
  readdirSync(join(folder, below))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${below}/${name}`)
    .sort()

/** Which mutants were noticed, each with its seal at that time; a file of the repository, so that a new clone knows it. */
export class Seals {
  readonly #seals: Record<string, string>

  constructor(private readonly path: string) {
    this.#seals = read(path)
  }

  /** Whether the mutant was noticed with exactly these files. */
  holds(name: string, seal: string): boolean {
    return this.#seals[name] === seal
  }

  /** Stores that the mutant was noticed with a seal; null: that it was not. */
  record(name: string, seal: string | null) {
    if (seal) this.#seals[name] = seal
    else delete this.#seals[name]
    const sorted = Object.fromEntries(Object.entries(this.#seals).sort(([one], [other]) => (one < other ? -1 : 1)))
    writeFileSync(this.path, `${JSON.stringify(sorted, null, 2)}\n`)
  }
}

function read(path: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(path, "utf8"))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {}
    throw error
  }
}
