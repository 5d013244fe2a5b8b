import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { unzipSync } from "fflate"
import { parse } from "yaml"
import { paste } from "../kit/client-tours.js"
import { closeDatabases, emptyDatabase } from "../kit/databases.js"
import { hasNginx, type Nginx, startNginx } from "../kit/nginx.js"
import { type ServerProcess, startServerProcess } from "../kit/server-process.js"

const page = readFileSync("docs/first-company.md", "utf8")
const blocks = [...page.matchAll(/^\*\*(.+?)\*\*[^\n]*\n(?:(?!\*\*)[^\n]*\n)*?```bash\n(.*?)^```$/gms)].map(([, title, commands]) => ({
  title: title!,
  commands: commands!,
}))

const folder = mkdtempSync(join(tmpdir(), "first-company-"))
const bin = join(folder, "bin")
const servers: ServerProcess[] = []
let nginx: Nginx | undefined
afterAll(async () => {
  await nginx?.stop()
  await Promise.all(servers.map((server) => server.stop()))
  await closeDatabases()
  rmSync(folder, { recursive: true, force: true })
})

/** The environment that docker-compose.yml gives an instance, with the values of `.env`. */
function environmentOfCompose(dotEnv: string): Record<string, string> {
  const values = Object.fromEntries(dotEnv.split("\n").map((line) => line.split(/=(.*)/)))
  const { environment } = parse(readFileSync("docker-compose.yml", "utf8"), { merge: true }).services.api
  const substituted = (text: string) =>
    text.replace(/\$\{(\w+)(?::([?-])([^}]*))?\}/g, (_, name, kind, other) => values[name] || (kind === "-" ? other : ""))
  return Object.fromEntries(Object.entries<string>(environment).map(([name, value]) => [name, substituted(value)]))
}

/** A command `docker` for this test: containers are processes of this machine, and /data is the servers' folder. */
function writeDocker(env: Record<string, string>) {
  const lines = [
    "#!/bin/bash",
    'case "$1 $2 $3 $4" in',
    '  "compose up "*) exit 0 ;;',
    '  "compose exec -T api") shift 4 ;;',
    '  *) echo "docker $* is not expected" >&2; exit 1 ;;',
    "esac",
    `args=("\${@//\\/data\\//${env["DATA_DIR"]!.replaceAll("/", "\\/")}\\/}")`,
    `cd ${process.cwd()}`,
    `exec env -i PATH="$PATH" ${Object.entries(env)
      .map(([name, value]) => `'${name}=${value}'`)
      .join(" ")} "\${args[@]}"`,
  ]
  mkdirSync(bin)
  writeFileSync(join(bin, "docker"), `${lines.join("\n")}\n`)
  chmodSync(join(bin, "docker"), 0o755)
}

const itWithNginx = hasNginx ? it : it.skip

describe("docs/first-company.md", () => {
  itWithNginx(`can be pasted, up to a backup${hasNginx ? "" : " (skipped: there is no nginx on this machine)"}`, async () => {
    expect(blocks).toHaveLength(page.split("```bash\n").length - 1)
    const [secrets, ...others] = blocks
    expect(await paste(secrets!.commands, folder)).toMatchObject({ code: 0, complained: "" })
    expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600)
    const dotEnv = readFileSync(join(folder, ".env"), "utf8")
    await paste(secrets!.commands, folder)
    expect(readFileSync(join(folder, ".env"), "utf8")).toBe(dotEnv)

    const database = await emptyDatabase()
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env
    const here = { DATABASE_URL: database.url, DATA_DIR: database.dataDir, REDIS_URL: "", PUBLIC_URL: "", NODE_COMPILE_CACHE }
    const env = { ...environmentOfCompose(dotEnv), NODE_ENV: "production", HOST: "127.0.0.1", PORT: "0", ...here }
    writeDocker(env)
    for (let count = 0; count < 2; count += 1) servers.push(await startServerProcess({ PATH, ...env }))
    nginx = await startNginx(servers.map(({ url }) => new URL(url).host))

    const pasted = others.map(({ title, commands }) => `echo '## ${title}'\n${commands}`).join("\n")
    expect(pasted.split("URL=http://localhost:4000\n")).toHaveLength(2)
    const commands = pasted.replace("URL=http://localhost:4000\n", `URL=${nginx.url}\n`)
    const { code, said, complained } = await paste(commands, folder, { PATH: `${bin}:${PATH}` })
    expect({ code, said, complained: complained.replace(/^Database: .*\n/gm, "") }).toEqual({ code: 0, said, complained: "" })

    const [, ...shown] = said.split(/^## .*\n/m)
    const printed = Object.fromEntries(others.map(({ title }, index) => [title, shown[index]]))
    expect(JSON.parse(printed["Containers."]!)).toMatchObject({ status: "ok" })
    expect(printed["A company, its owner, a plan, a token."]).toMatch(/^password: \S{24} {2}token: amp_\w+$/m)
    expect(printed["The widget."]).toMatch(/^<script src="http.*\/widget.js" data-connection="[0-9a-f-]{36}" async><\/script>\n$/)
    expect(printed["A question, and its answer."]).toMatch(/^Assistant: .*from 9 to 18/)
    expect(printed["A person takes over."]).toMatch(/^false\nUser\n[0-9a-f-]{36}\nCustomer: Are you open on holidays\?\n$/)
    expect(Object.keys(unzipSync(readFileSync(join(folder, "first.zip")))).length).toBeGreaterThan(3)
    expect(statSync(join(folder, "first.zip")).mode & 0o777).toBe(0o600)
  })
})
