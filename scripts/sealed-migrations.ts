import { createHash } from "node:crypto"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

const list = ".sealed.json"

/** What there is of migrations in a folder: checksums by file name, as they are and as they were sealed. */
async function read(folder: string) {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".ts")).sort()
  const sums = await Promise.all(names.map(async (name) => checksum(await readFile(join(folder, name)))))
  const sealed = JSON.parse(await readFile(join(folder, list), "utf8").catch(() => "{}")) as Record<string, string>
  return { found: Object.fromEntries(names.map((name, index) => [name, sums[index]!])), sealed }
}

const checksum = (content: Buffer) => createHash("sha256").update(content).digest("hex")

/**
 * Sentences about migrations that are not what they were: a database that has run one would be refused by the next version, or differ from
 * a new one without anybody knowing.
 */
export async function brokenSeals(folder: string): Promise<string[]> {
  const { found, sealed } = await read(folder)
  const broken = Object.keys(sealed).filter((name) => found[name] !== sealed[name])
  const fresh = Object.keys(found).filter((name) => !sealed[name])
  return [
    ...broken.map((name) => `migrations/${name} was changed or removed: databases have run it as it was. Put it back, and add a new one`),
    ...fresh.map((name) => `migrations/${name} is not sealed: run \`npm run generate\` and commit it`),
  ]
}

/** Seals the migrations that are new. One that never left its machine may be unsealed by taking its line out of the list. */
export async function sealMigrations(folder: string): Promise<void> {
  const { found, sealed } = await read(folder)
  await writeFile(join(folder, list), `${JSON.stringify({ ...found, ...sealed }, null, 2)}\n`)
}
