import { createHash } from "node:crypto"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

const list = ".sealed.json"

/** The migrations of a folder: checksums by file name, the present ones and the recorded ones. */
async function read(folder: string) {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".ts")).sort()
  const sums = await Promise.all(names.map(async (name) => checksum(await readFile(join(folder, name)))))
  const sealed = JSON.parse(await readFile(join(folder, list), "utf8").catch(() => "{}")) as Record<string, string>
  return { found: Object.fromEntries(names.map((name, index) => [name, sums[index]!])), sealed }
}

const checksum = (content: Buffer) => createHash("sha256").update(content).digest("hex")

/**
 * Sentences about migrations that were changed: the next version would refuse a database that has run one, or the database would differ from a
 * new one without an error.
 */
export async function brokenSeals(folder: string): Promise<string[]> {
  const { found, sealed } = await read(folder)
  const broken = Object.keys(sealed).filter((name) => found[name] !== sealed[name])
  const fresh = Object.keys(found).filter((name) => !sealed[name])
  return [
    ...broken.map(
      (name) =>
        `migrations/${name} was changed or removed: databases have run it as it was. Put it back, and add a new one. If it was never released, remove its line from migrations/${list} and run \`npm run generate\``,
    ),
    ...fresh.map((name) => `migrations/${name} is not sealed: run \`npm run generate\` and commit it`),
  ]
}

/** Records the checksums of new migrations. Remove the line of one that was never released, to change it. */
export async function sealMigrations(folder: string): Promise<void> {
  const { found, sealed } = await read(folder)
  await writeFile(join(folder, list), `${JSON.stringify({ ...found, ...sealed }, null, 2)}\n`)
}
