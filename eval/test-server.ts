import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readConfig } from "../src/config/config.js"
import { openEmbedded } from "../src/database/embedded/open.js"
import { makeLog } from "../src/observability/log.js"
import { textModels } from "../src/ports/index.js"
import type { TextModel } from "../src/ports/text-model.js"
import { type RunningServer, startServer } from "../src/server.js"
import type { Script } from "./script.js"

/** A server on an empty database. */
export interface TestServer {
  server: RunningServer
  url: string
  close(): Promise<void>
}

/** The endpoints of a script's tools, and its pages. */
export interface Endpoints {
  /** The URL of a tool or of a page. */
  address(name: string): string
  close(): Promise<void>
}

/** The configuration: models come from the environment, nothing else does. No debounce: the script defines the bursts. */
const own = (dataDir: string) => ({
  DATA_DIR: dataDir,
  PORT: "0",
  HOST: "127.0.0.1",
  DEMO: "false",
  ALLOW_PRIVATE_NETWORK: "true",
  RATE_LIMIT_PER_MINUTE: "0",
  REPLY_DEBOUNCE_MS: "0",
  REPLY_MAX_WAIT_MS: "0",
  LOG_LEVEL: "error",
})
const models = /^(OPENAI|ANTHROPIC|EMBEDDING)_/

/** Finds the text model with a name or of a provider, or the first one, before anything is started; throws when there is none. */
export async function chooseModel(wanted: string | undefined): Promise<TextModel> {
  const offered = await textModels(readConfig(given()))
  const chosen = wanted ? offered.find(({ name, provider }) => name === wanted || provider === wanted) : offered[0]
  if (!chosen) throw new Error(`There is no model ${wanted}; there are ${offered.map(({ name }) => name).join(", ")}`)
  return chosen
}

const given = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => models.test(name)))

/** Starts the server; when a step fails, the earlier ones are undone. */
export async function openTestServer(): Promise<TestServer> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "platform-eval-"))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const config = readConfig({ ...given(), ...own(folder) })
  const log = makeLog(config)
  const embedded = await openEmbedded({ dataDir: folder, role: "server", log: (line) => log.info(line) })
  stack.defer(() => embedded.stop())
  const server = await startServer(config, embedded.url, log)
  stack.defer(() => server.stop())
  const built = stack.move()
  return { server, url: `http://127.0.0.1:${server.port}`, close: () => built.disposeAsync() }
}

/** Serves the endpoints of a script's tools, with the responses of the script, and its pages. */
export async function serveTools(script: Script): Promise<Endpoints> {
  const pathOf = (name: string) => `/${encodeURIComponent(name)}`
  const tools = new Map(script.tools.map((tool) => [pathOf(tool.name), tool]))
  const pages = new Map(script.knowledge.flatMap((item) => ("page" in item ? [[pathOf(item.name), item.page] as const] : [])))
  const http = createServer((request, response) => {
    request.resume().on("end", () => {
      const { pathname } = new URL(request.url!, "http://localhost")
      const page = pages.get(pathname)
      if (page !== undefined) return void response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page)
      const tool = tools.get(pathname)
      response.writeHead(tool?.status ?? 404, { "Content-Type": "application/json" }).end(JSON.stringify(tool?.answers ?? null))
    })
  })
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening))
  const { port } = http.address() as { port: number }
  return {
    address: (name) => `http://127.0.0.1:${port}${pathOf(name)}`,
    async close() {
      http.closeAllConnections()
      await new Promise((closed) => http.close(closed))
    },
  }
}
