import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { execute } from "../../src/admin/command-line.js"
import { dataOf } from "../../src/database/embedded/home.js"
import { openEmbedded } from "../../src/database/embedded/open.js"
import { findPostmaster } from "../../src/database/embedded/postmaster.js"
import { leftovers, remove } from "../../src/database/embedded/prune.js"
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
  it("deletes copies of PostgreSQL of other versions, and leaves this one's, an operator's copies and everything else", async () => {
    const dataDir = folder()
    await (await openEmbedded({ dataDir, role: "server", log() {} })).stop()
    const older = join(dataDir, "postgres-16.4.0-beta.15-linux-x64")
    for (const name of ["postgres-16.4.0-beta.15-linux-x64", "postgres-2026-01-02", "postgres-17-old-data", "postgres-16.4.0-linux-x64"])
      mkdirSync(join(dataDir, name))
    mkdirSync(join(older, "bin"))
    writeFileSync(join(older, "bin", "postgres"), "x".repeat(1_000))
    const before = readdirSync(dataDir)
    const mine = ({ answer }: { answer: { path: string }[] }) => answer.filter(({ path }) => path.startsWith(dataDir))
    const found = { path: older, bytes: 1_000, why: "PostgreSQL of another version" }
    expect(mine(await admin(dataDir, "database:prune"))).toEqual([{ ...found, deleted: false }])
    for (const each of leftovers(dataDir, null)) remove(each)
    expect(readdirSync(dataDir)).toEqual(before.filter((name) => name !== basename(older)))
  })

  it("leaves a copy that a process runs from", async () => {
    const dataDir = folder()
    const copy = join(dataDir, "postgres-16.4.0-linux-x64", "bin")
    mkdirSync(copy, { recursive: true })
    copyFileSync(process.execPath, join(copy, "postgres"))
    const child = spawn(join(copy, "postgres"), ["-e", "process.stdin.resume(); console.log(1)"], { stdio: ["pipe", "pipe", "inherit"] })
    await once(child.stdout, "data")
    expect(leftovers(dataDir, null)).toEqual([])
    await kill(child)
    expect(leftovers(dataDir, null)).toHaveLength(1)
  })

  it("lists data whose DATA_DIR cannot be found, and deletes none", () => {
    const [shared, moved, lost] = [folder(), folder(), folder()]
    const dataOfFolder = (name: string, owner: string) => {
      const data = join(shared, name, "postgres")
      mkdirSync(data, { recursive: true })
      writeFileSync(join(shared, name, "data-dir"), `${owner}\n`)
      return data
    }
    const [kept, gone] = [dataOfFolder("kept", "/before/it/was/moved"), dataOfFolder("gone", lost)]
    writeFileSync(join(moved, "postgres.json"), JSON.stringify({ data: kept }))
    const found = leftovers(moved, shared)
    expect(found).toEqual([
      expect.objectContaining({ path: dirname(gone), isRemovable: false, why: expect.stringContaining(`DATA_DIR ${lost} cannot`) }),
    ])
    for (const each of found) remove(each)
    expect(readdirSync(shared).toSorted()).toEqual(["gone", "kept"])
  })

  asRoot("knows the DATA_DIR of data below /var/lib", async () => {
    const dataDir = folder(0o700)
    await (await openEmbedded({ dataDir, role: "server", log() {} })).stop()
    const path = dirname(dataOf(dataDir))
    expect(readFileSync(join(path, "data-dir"), "utf8")).toBe(`${dataDir}\n`)
    expect(leftovers(folder())).not.toContainEqual(expect.objectContaining({ path }))
    rmSync(path, { recursive: true })
  })
})
