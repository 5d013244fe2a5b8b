import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { execute } from "../../src/admin/command-line.js"
import { dataOf, SHARED_FOLDER } from "../../src/database/embedded/home.js"
import { openEmbedded } from "../../src/database/embedded/open.js"
import { findPostmaster } from "../../src/database/embedded/postmaster.js"
import { happens } from "../kit/wait.js"

const asRoot = process.getuid?.() === 0 ? it : it.skip
const folders: string[] = []

function folder(mode = 0o755): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "leftovers-")))
  chmodSync(made, mode)
  folders.push(made)
  return made
}

afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true })
})

/** Runs a command of the administration on a DATA_DIR. */
async function admin(dataDir: string, ...args: string[]) {
  const { code, stdout, stderr } = await execute([...args, "--json"], { DATA_DIR: dataDir })
  return { code, stderr, answer: stdout && JSON.parse(stdout) }
}

/** Opens the database in another process, as a server does. */
async function server(dataDir: string): Promise<ChildProcess> {
  const program = `import { openEmbedded } from "./dist/src/database/embedded/open.js"
    await openEmbedded({ dataDir: process.argv[1], role: "server", log() {} })
    process.stdin.resume()
    console.log("open")`
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, dataDir], { stdio: ["pipe", "pipe", "inherit"] })
  await happens("the process has opened the database", once(child.stdout!, "data"))
  return child
}

async function kill(child: ChildProcess) {
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

describe("database:stop", () => {
  it("stops what a killed server has left running, and is refused while a server runs", async () => {
    const dataDir = folder()
    const child = await server(dataDir)
    const { pid } = findPostmaster(dataOf(dataDir))!
    const refused = await admin(dataDir, "database:stop")
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`A server already runs on ${dataDir} (process ${child.pid})`),
    })
    await kill(child)
    expect(await admin(dataDir, "database:stop")).toMatchObject({ code: 0, answer: { dataDir, stopped: true, process: pid } })
    expect(findPostmaster(dataOf(dataDir))).toBeUndefined()
    expect(await admin(dataDir, "database:stop")).toMatchObject({ code: 0, answer: { dataDir, stopped: false, process: null } })
  })

  it("is refused where there is no embedded database, and with DATABASE_URL", async () => {
    const empty = folder()
    expect(await admin(empty, "database:stop")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`There is no database in ${empty}`),
    })
    expect(readdirSync(empty)).toEqual([])
    for (const command of ["database:stop", "database:prune"]) {
      const { code, stderr } = await execute([command], { DATA_DIR: empty, DATABASE_URL: "postgres://127.0.0.1/theirs" })
      expect([code, stderr]).toEqual([1, "DATABASE_URL is set: this command is about the embedded database of DATA_DIR\n"])
    }
  })
})

describe("database:prune", () => {
  it("deletes copies of PostgreSQL of other versions, and leaves this one's and everything else", async () => {
    const dataDir = folder()
    await (await openEmbedded({ dataDir, role: "server", log() {} })).stop()
    const before = readdirSync(dataDir)
    const older = join(dataDir, "postgres-16.4.0-linux-x64")
    mkdirSync(join(older, "bin"), { recursive: true })
    writeFileSync(join(older, "bin", "postgres"), "x".repeat(1_000))
    const mine = ({ answer }: { answer: { path: string }[] }) => answer.filter(({ path }) => path.startsWith(dataDir))
    const found = { path: older, bytes: 1_000, why: "PostgreSQL of another version" }
    expect(mine(await admin(dataDir, "database:prune"))).toEqual([{ ...found, deleted: false }])
    expect(existsSync(older)).toBe(true)
    expect(mine(await admin(dataDir, "database:prune", "--delete"))).toEqual([{ ...found, deleted: true }])
    expect(readdirSync(dataDir)).toEqual(before)
  })

  asRoot("deletes the data below /var/lib whose DATA_DIR is gone, and no other", async () => {
    const [gone, kept] = [folder(0o700), folder(0o700)]
    for (const dataDir of [gone, kept]) await (await openEmbedded({ dataDir, role: "server", log() {} })).stop()
    const [lost, found] = [gone, kept].map((dataDir) => dirname(dataOf(dataDir))) as [string, string]
    expect(dirname(lost)).toBe(SHARED_FOLDER)
    expect(readFileSync(join(lost, "data-dir"), "utf8")).toBe(`${gone}\n`)
    rmSync(gone, { recursive: true })
    const { answer } = await admin(kept, "database:prune", "--delete")
    const why = `the data of ${gone}, which does not exist any more`
    expect(answer).toContainEqual({ path: lost, bytes: expect.any(Number), why, deleted: true })
    expect(answer).not.toContainEqual(expect.objectContaining({ path: found }))
    expect([existsSync(lost), existsSync(found)]).toEqual([false, true])
    rmSync(found, { recursive: true })
  })
})
