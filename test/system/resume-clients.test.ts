import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { type ServerProcess, serverProcess } from "../kit/server-process.js"
import { forgetEvents } from "../kit/sockets.js"
import { tcpProxy } from "../kit/tcp-proxy.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w
let clients: ChildProcess[] = []
let servers: ServerProcess[] = []
afterEach(async () => {
  for (const client of clients) client.kill("SIGKILL")
  await Promise.all(servers.map((server) => server.stop("SIGKILL")))
  clients = []
  servers = []
})

async function startServer(): Promise<ServerProcess> {
  const server = await serverProcess(w)
  servers.push(server)
  return server
}

/** Runs an example of the documentation; returns the lines that it has printed. */
function run(example: string, url: string) {
  const { PATH = "" } = process.env
  const env = { PATH, URL: `${url.replace("http", "ws")}/graphql`, TOKEN: acme.token }
  const client = spawn(process.execPath, [`docs/examples/${example}.js`], { env, stdio: ["ignore", "pipe", "inherit"] })
  clients.push(client)
  const lines: string[] = []
  createInterface({ input: client.stdout! }).on("line", (line) => void lines.push(line))
  return lines
}

const textsIn = (lines: string[]) =>
  lines.filter((line) => line.includes("MESSAGE_CREATED")).map((line) => line.split(" ").slice(2).join(" "))

it.each(["resume-graphql-ws", "resume-urql", "resume-apollo"])(
  "docs/examples/%s.js misses no event when the server is killed",
  async (example) => {
    const { id: chatId } = await acme.chat()
    const first = await startServer()
    // The address stays while there is no server, so that nobody else takes its port.
    const proxy = await tcpProxy(first.url)
    const lines = run(example, new URL(proxy.url).origin)
    let sent = 0
    const say = () => {
      sent += 1
      return acme.message({ chatId, text: `message ${sent}` })
    }
    await until("the client is subscribed", async () => {
      await say()
      return textsIn(lines).length > 0
    })
    const begin = Number(textsIn(lines)[0]!.split(" ")[1])
    const all = () => Array.from({ length: sent - begin + 1 }, (_, index) => `message ${begin + index}`)
    const arrived = (when: string) => until(`the client has all messages ${when}`, () => textsIn(lines).length >= all().length)
    await arrived("before the server is killed")
    await first.stop("SIGKILL")
    await say()
    await say()
    const second = await startServer()
    proxy.lead(second.url)
    await say()
    await arrived("after the server is back")
    expect(textsIn(lines)).toEqual(all())

    proxy.reset()
    await acme.message({ chatId, text: "gone" })
    await forgetEvents(w)
    proxy.pass()
    await until(
      "the client goes on from the end of the log",
      async () => {
        await acme.message({ chatId, text: "after the gap" })
        return textsIn(lines).at(-1) === "after the gap"
      },
      () => lines.slice(-20),
    )
    expect(textsIn(lines).filter((text) => text !== "after the gap")).toEqual(all())
    await second.stop()
    await proxy.close()
  },
)
