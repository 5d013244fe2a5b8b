import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { posix } from "node:path"
import { complaints, type Rule, root, type Source, sourcesBelow } from "../kit/house-rules.js"

const exists = (path: string) => existsSync(posix.join(root, path))
const textOf = (path: string) => readFileSync(posix.join(root, path), "utf8")
const linesOf = (text: string) => text.trimEnd().split("\n")
const page = (path: string): Source => ({ path, text: textOf(path) })

const folders = readdirSync(posix.join(root, "src"), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
const readmes = [...folders.map((name) => `src/${name}`), "test", "scripts"].map((folder) => `${folder}/README.md`)

/** The texts in backticks of a line. */
const quoted = (line: string) => [...line.matchAll(/`([^`]+)`/g)].map(([, text]) => text!)
const isPath = (text: string) =>
  /^[\w.-]+(\/[\w.-]+)*\/?$/.test(text) && (text.includes("/") || /\.(tsx?|js|css|html|md|sql|json|example)$/.test(text))

/**
 * The paths in a line of a page, as they are written and from the root, null for one that does not exist. They begin at the folder of the page,
 * at the root, or at a folder that the line names before.
 */
function pathsIn(line: string, folder: string): { written: string; path: string | null }[] {
  const bases = [folder, "."]
  return quoted(line)
    .filter(isPath)
    .map((written) => {
      const path = bases.map((base) => posix.join(base, written)).find(exists) ?? null
      if (path?.endsWith("/")) bases.push(path)
      return { written, path }
    })
}

const contents = (path: string) =>
  statSync(posix.join(root, path)).isDirectory() ? sourcesBelow(path).map(({ text }) => text) : [textOf(path)]

const readmesAreShort: Rule = {
  teaches: "A README.md of a folder has at most 15 lines of at most 200 characters: leave out what the name of a file says.",
  finds: ({ text }) => {
    const lines = linesOf(text)
    return [
      ...(lines.length > 15 ? [`has ${lines.length} lines`] : []),
      ...lines.filter((line) => line.length > 200).map((line) => `has a line of ${line.length} characters: ${line.slice(0, 40)}`),
    ]
  },
}

const readmesNameFiles: Rule = {
  teaches: "Paths begin at the folder of the README.md, at the root, or at a folder that the line names before.",
  finds: ({ path, text }) =>
    linesOf(text)
      .flatMap((line) => pathsIn(line, posix.dirname(path)))
      .filter((named) => named.path === null)
      .map(({ written }) => `names ${written}, which does not exist`),
}

const readmesNameFunctions: Rule = {
  teaches: "A function is named in a line with its file or a folder of it; without one it is in the folder of the README.md.",
  finds: ({ path, text }) =>
    linesOf(text).flatMap((line) => {
      const folder = posix.dirname(path)
      const names = quoted(line).flatMap((written) => /^(?:\w+\.)*(\w+)\(\)$/.exec(written)?.[1] ?? [])
      const places = pathsIn(line, folder).flatMap((named) => named.path ?? [])
      const code = names.length > 0 ? (places.length > 0 ? places : [`${folder}/`]).flatMap(contents) : []
      return names
        .filter((name) => !code.some((file) => new RegExp(`\\b${name}\\b`).test(file)))
        .map((name) => `names ${name}(), which is not there`)
    }),
}

const planted = (...lines: string[]): Source => ({ path: "src/jobs/README.md", text: lines.join("\n") })

describe("the map", () => {
  const map = textOf("docs/map.md")

  it("has at most 70 lines", () => expect(linesOf(map).length).toBeLessThanOrEqual(70))

  it("links a README.md in each folder of src/", () => {
    expect(folders.length).toBeGreaterThan(20)
    const [missing, unlinked] = [readmes.filter((path) => !exists(path)), readmes.filter((path) => !map.includes(`](../${path})`))]
    expect({ missing, unlinked }).toEqual({ missing: [], unlinked: [] })
  })

  it("names files that exist", () => {
    const named = quoted(map).filter((text) => isPath(text) && /^(src|test|scripts|simulate|deploy)\//.test(text))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((path) => !exists(path))).toEqual([])
  })

  it("has request flows of files that exist", () => {
    const named = quoted(textOf("docs/request-flows.md")).filter((text) => /^[\w-]+(\/[\w-]+)+$/.test(text))
    expect(named.length).toBeGreaterThan(40)
    expect(named.filter((name) => !exists(`src/${name}.ts`))).toEqual([])
  })
})

describe("the README.md of a folder", () => {
  const pages = readmes.filter(exists).map(page)

  it.each([
    ["is short", readmesAreShort],
    ["names files that exist", readmesNameFiles],
    ["names functions that exist", readmesNameFunctions],
  ])("%s", (_says, rule) => expect(complaints(rule, pages)).toEqual([]))

  it.each([
    ["too many lines", readmesAreShort, planted(...Array<string>(16).fill("- a line"))],
    ["a long line", readmesAreShort, planted("x".repeat(201))],
    ["a file of the folder that does not exist", readmesNameFiles, planted("the reply is in `replies.ts`, and `reply.ts`")],
    ["a file of another folder that does not exist", readmesNameFiles, planted("`src/chats/nowhere.ts`, `src/chats/delete.ts`")],
    ["a folder that does not exist", readmesNameFiles, planted("`src/nowhere/`, then `/api/chats`, `DATA_DIR`, `src/**/limits.ts`")],
    ["a function that is not in the named file", readmesNameFunctions, planted("`isReturnDue()` in `reply.ts`")],
    ["a function that is not in the folder", readmesNameFunctions, planted("`isReturnDue()`")],
  ])("%s is reported", (_says, rule, broken) => {
    expect(complaints(rule, [broken])).toHaveLength(1)
    expect(complaints(rule, [broken])[0]).toContain(rule.teaches)
  })

  it("may name files from the root, from its folder and from a folder of the line, and functions of these", () => {
    const right = planted(
      "`kit/worker.ts`, `src/chats/delete.ts`; in `src/pages/browser/widget/`: `button.ts`",
      "`isReturnDue()` in `src/entities/`",
    )
    expect([...complaints(readmesNameFiles, [right]), ...complaints(readmesNameFunctions, [right])]).toEqual([])
  })
})
