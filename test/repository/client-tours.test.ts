import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { blocksOf, type ClientExample, clientTour, paste } from "../kit/client-tours.js"
import { happens, until } from "../kit/wait.js"

const folder = mkdtempSync(join(tmpdir(), "tours-"))
afterAll(() => rmSync(folder, { recursive: true }))

const page = join(folder, "page.md")
const example = join(folder, "example")
mkdirSync(join(example, "src"), { recursive: true })
writeFileSync(join(example, "src", "program"), "echo from the program: $GREETING\n")

const block = (commands: string) => `\`\`\`bash\n${commands}\n\`\`\`\n`
const run = block('echo "building" >&2\nbash src/program\ncat fetched')
const sections: Record<string, string> = {
  works: block("echo packages >fetched") + run,
  offline: block("echo 'npm error code ENOTFOUND'; exit 1") + run,
  broken: block("echo 'the lock file does not match' >&2; exit 1") + run,
  fails: block("true") + block("false | cat\necho not reached"),
}
writeFileSync(
  page,
  Object.entries(sections)
    .map(([name, blocks]) => `## ${name}\n\nText.\n\n${blocks}`)
    .join("\n"),
)

const tour = (section: string, more: Partial<ClientExample> = {}) =>
  clientTour({ page, section, folder: example, needs: ["true"], ...more })
const [works, offline, broken, fails] = await Promise.all(["works", "offline", "broken", "fails"].map((section) => tour(section)))
const missing = await tour("works", { needs: ["true", "no-such-language --version"] })

it("an example runs in a copy of its folder, with the environment of its test", async () => {
  expect(await works!.run({ GREETING: "hello" })).toEqual(["from the program: hello", "packages"])
})

it("what goes on until it is stopped can be stopped, with all of its processes", async () => {
  const running = works!.start("sleep 1000 & echo started; wait")
  await until("it has printed", () => running.said === "started\n")
  running.stop()
  // Its output ends only when no process can write to it any more.
  expect((await happens("all have ended", running.ended)).code).toBeNull()
})

it("a fetch without a network is a skip, and so is a missing language", () => {
  expect([works, offline, missing].map((each) => each!.skipped)).toEqual([
    "",
    " (skipped: its packages cannot be fetched)",
    " (skipped: no-such-language --version fails here)",
  ])
})

it("a fetch that fails for another reason, and a command that fails anywhere in a block, are failures", async () => {
  expect(broken!.skipped).toBe("")
  await expect(broken!.run()).rejects.toThrow(/packages of .* are fetched \(exit code 1\)\nthe lock file does not match/)
  await expect(fails!.run()).rejects.toThrow("exit code 1")
})

it("a section without its two blocks is refused", () => {
  expect(() => blocksOf("## Go\n\n```bash\ngo build\n```\n", "Go")).toThrow('"Go" has 1 blocks')
  expect(() => blocksOf("# Title\n", "Go")).toThrow('"Go" has 0 blocks')
})

it("the commands have a user's environment, with this Node", async () => {
  const { said } = await paste('printenv TEST_DATABASE_URL JEST_WORKER_ID NODE_ENV || true; node --version; echo "$PATH"', folder)
  const [version, path = ""] = said.split("\n")
  expect(version).toBe(process.version)
  expect(path.split(":").filter((each) => each.startsWith(resolve("node_modules")) && each !== dirname(process.execPath))).toEqual([])
})
