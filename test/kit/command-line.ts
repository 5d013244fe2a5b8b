import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { execute } from "../../src/admin/command-line.js"
import { happens, until } from "./wait.js"
import type { World } from "./world.js"

/** Runs a command of the administration command line. */
export type RunAdmin = (args: string[], env: Record<string, string>) => Promise<{ code: number; stdout: string; stderr: string }>

/** The options of a command with their values; true for one that takes none. */
type Options = Record<string, string | true>

/** Runs a command as an operator does, in a separate process; takes about a second. */
export const adminProcess: RunAdmin = (args, env) => runNode(["dist/server/admin.js", ...args], env)

/** Runs a command in a separate process, and kills it like a power cut as soon as `isTime` says so; fails when it ends before. */
export const killedWhen =
  (isTime: () => Promise<boolean>): RunAdmin =>
  async (args, env) => {
    const child = spawn(process.execPath, ["dist/server/admin.js", ...args], { env: { ...process.env, ...env } })
    const exit = once(child, "exit")
    await until("the moment of the kill", async () => child.exitCode !== null || (await isTime())).finally(() => child.kill("SIGKILL"))
    expect(await happens("the command has ended", exit)).toEqual([null, "SIGKILL"])
    return { code: 1, stdout: "", stderr: "" }
  }

/** Runs Node in a separate process with this environment. */
function runNode(args: string[], env: Record<string, string>): ReturnType<RunAdmin> {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--enable-source-maps", ...args],
      { env: { PATH, HOME, NODE_COMPILE_CACHE, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

/** Changes a chat like a command, in a process without a server. */
const changeOfChat = `
  import "reflect-metadata"
  import { change } from "./dist/src/admin/kit.js"
  import { openCommandContext } from "./dist/src/admin/open.js"
  import { readConfig } from "./dist/src/config/config.js"
  import { Chat } from "./dist/src/entities/chat.js"
  const [companyId, id, name] = process.argv.slice(1)
  await using stack = new AsyncDisposableStack()
  const context = await openCommandContext(readConfig(process.env), stack)
  await change(context, [companyId], async ({ em }) => {
    const chat = await em.findOneOrFail(Chat, { id })
    chat.name = name
    chat.changed()
  })`

/** Runs commands on the database of a test server that runs; in this process, unless a separate one is requested. */
export function administration(world: World, runAdmin: RunAdmin = execute, more: () => Record<string, string> = () => ({})) {
  const environment = () => ({
    DATABASE_URL: world.databaseUrl,
    DATA_DIR: world.services.config.dataDir,
    JWT_SECRET: world.services.secrets.jwtSecret,
    ENCRYPTION_KEY: world.services.secrets.encryptionKey.toString("hex"),
    ...more(),
  })
  const run = (command: string, options: Options = {}, json = true) => {
    const args = Object.entries(options).flatMap(([name, value]) => (value === true ? [`--${name}`] : [`--${name}`, value]))
    return runAdmin([command, ...args, ...(json ? ["--json"] : [])], environment())
  }
  return {
    environment,
    run,
    /** Renames a chat in a command's transaction, since no command changes a chat yet. */
    async renameChat(companyId: string, id: string, name: string) {
      const ended = await runNode(["--input-type=module", "--eval", changeOfChat, companyId, id, name], environment())
      expect(ended).toEqual({ code: 0, stdout: "", stderr: "" })
    },
    /** Runs a command that succeeds; returns its output, one line of JSON. */
    // biome-ignore lint/suspicious/noExplicitAny: each command prints its own.
    async done(command: string, options?: Options): Promise<any> {
      const ended = await run(command, options)
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Database: [^\n]+\n$/) })
      expect(ended.stdout.trimEnd().split("\n")).toHaveLength(1)
      return JSON.parse(ended.stdout)
    },
    /** Runs a command that fails with an exit code; returns its error, one line. */
    async refused(code: 1 | 2, command: string, options?: Options): Promise<string> {
      const ended = await run(command, options)
      expect(ended).toMatchObject({ code, stdout: "" })
      expect(ended.stderr).toMatch(/^[^\n]+\n$/)
      return ended.stderr.trim()
    },
  }
}
