import { execFile } from "node:child_process"
import { execute } from "../../src/admin/command-line.js"
import type { World } from "./world.js"

/** Runs a command of the administration command line. */
export type RunAdmin = (args: string[], env: Record<string, string>) => Promise<{ code: number; stdout: string; stderr: string }>

/** Runs a command as an operator does: a process of its own, of about a second. */
export const adminProcess: RunAdmin = (args, env) => {
  const { PATH = "", HOME = "" } = process.env
  const node = ["--enable-source-maps", "dist/src/admin/main.js", ...args]
  return new Promise((resolve) => {
    execFile(process.execPath, node, { env: { PATH, HOME, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

/** The administration of a world's database, while its server runs; in this process, unless it is to be one of its own. */
export function administration(world: World, runAdmin: RunAdmin = execute) {
  const run = (command: string, options: Record<string, string> = {}, json = true) => {
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
    return runAdmin([command, ...args, ...(json ? ["--json"] : [])], {
      DATABASE_URL: world.databaseUrl,
      JWT_SECRET: world.services.secrets.jwtSecret,
      ENCRYPTION_KEY: world.services.secrets.encryptionKey.toString("hex"),
    })
  }
  return {
    run,
    /** A command that succeeds: what it printed, one line of JSON. */
    // biome-ignore lint/suspicious/noExplicitAny: each command prints its own.
    async done(command: string, options?: Record<string, string>): Promise<any> {
      const ended = await run(command, options)
      expect(ended).toMatchObject({ code: 0, stderr: "" })
      expect(ended.stdout.trimEnd().split("\n")).toHaveLength(1)
      return JSON.parse(ended.stdout)
    },
    /** A command that fails with an exit code: the one line that says why. */
    async refused(code: 1 | 2, command: string, options?: Record<string, string>): Promise<string> {
      const ended = await run(command, options)
      expect(ended).toMatchObject({ code, stdout: "" })
      expect(ended.stderr).toMatch(/^[^\n]+\n$/)
      return ended.stderr.trim()
    },
  }
}
