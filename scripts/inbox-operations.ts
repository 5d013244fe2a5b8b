import { createHash } from "node:crypto"
import { readdirSync, writeFileSync } from "node:fs"
import { build } from "esbuild"
import { type DocumentNode, Kind, print } from "graphql"

const folder = "src/pages/browser/inbox"

/** Runs in the bundle: the documents as urql's cache sends them, and the texts that are sent without it. */
const collector = (files: string[]) => `
  import { formatDocument } from "urql"
  ${files.map((file, index) => `import * as m${index} from "./${file}"`).join("\n")}
  const all = [${files.map((_, index) => `m${index}`).join(", ")}].flatMap((module) => Object.values(module))
  export const texts = all.filter((each) => typeof each === "string")
  export const documents = all.filter((each) => each?.kind === "Document").map((each) => formatDocument(each))`

/**
 * Writes the manifest of the inbox's operations, in the format of Relay and of The Guild's tools. The server reads it where it accepts trusted
 * documents only.
 */
export async function writeInboxManifest(file: string) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /operations\.ts$/.test(name))
  const stdin = { contents: collector(files.sort()), resolveDir: folder, loader: "ts" as const }
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
  })
  const code = `data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString("base64")}`
  const { texts, documents } = (await import(code)) as { texts: string[]; documents: DocumentNode[] }
  const operations = documents.filter(({ definitions }) => definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)).map(print)
  const entries = [...texts, ...operations].map((text) => [`sha256:${createHash("sha256").update(text).digest("hex")}`, text])
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}
