import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brokenLinks } from "../../scripts/links.js"

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "links-"))
  await mkdir(join(root, "docs", "api"), { recursive: true })
  await writeFile(join(root, "LICENSE"), "")
})

afterEach(() => rm(root, { recursive: true }))

const page = (name: string, ...lines: string[]) => writeFile(join(root, name), lines.join("\n"))

it("links to files, folders, headings and other sites are right", async () => {
  await page(
    "README.md",
    "# Start",
    "[a](docs/api/errors.md#what-npm-run-does-twice), [b](docs/), [c](LICENSE#L3) ![d](/LICENSE)",
    "[e]: #start",
  )
  await page(
    "docs/api/errors.md",
    "## What `npm run` does, *twice*!",
    "## What npm run does twice",
    '<a id="own"></a>',
    "Größe",
    "## Größe & Maß",
  )
  await page(
    "docs/b.md",
    "[a](api/errors.md#what-npm-run-does-twice-1) [b](../README.md#start 'title') [c](https://example.com/#x) [d](mailto:a@example.com)",
    "[e](api/errors.md#own) [f](api/errors.md#größe--maß) [g](api/errors.md#gr%C3%B6%C3%9Fe--ma%C3%9F)",
  )
  expect(brokenLinks(root)).toEqual([])
})

it("each link that leads nowhere is reported with its line", async () => {
  await page(
    "README.md",
    "# Start",
    "[a](docs/none.md) and [b](docs/a.md#none)",
    "",
    "[c]: #nowhere",
    '<img src="none.png">',
    "[d](../x.md)",
  )
  await page("docs/a.md", "# A", "```sh", "# no heading", "```", "[e](#no-heading) [f](../LICENSE#part) [g](%zz.md)")
  await mkdir(join(root, "src", "chats"), { recursive: true })
  await page("src/chats/README.md", "[h](../../docs/a.md) [i](../docs/a.md)")
  expect(brokenLinks(root)).toEqual([
    "README.md:2: the link docs/none.md leads to a file that does not exist",
    "README.md:2: the link docs/a.md#none names a heading that does not exist",
    "README.md:4: the link #nowhere names a heading that does not exist",
    "README.md:5: the link none.png leads to a file that does not exist",
    "README.md:6: the link ../x.md leads out of the repository",
    "docs/a.md:5: the link #no-heading names a heading that does not exist",
    "docs/a.md:5: the link ../LICENSE#part names a heading of a file that is no Markdown",
    "docs/a.md:5: the link %zz.md is not correctly percent-encoded",
    "src/chats/README.md:1: the link ../docs/a.md leads to a file that does not exist",
  ])
})

it("examples in code are no links, and their lines are counted", async () => {
  await page(
    "README.md",
    "`[a](none.md)` and ``[`b`](none.md)``",
    "  ```md",
    "  [c](none.md)",
    "  ```",
    "~~~",
    "[d](none.md)",
    "~~~",
    "[e](none.md)",
  )
  expect(brokenLinks(root)).toEqual(["README.md:8: the link none.md leads to a file that does not exist"])
})

it("the links of this repository are right", () => expect(brokenLinks(".")).toEqual([]))
