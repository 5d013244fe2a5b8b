import { execFile } from "node:child_process"
import { extname, join } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs, promisify } from "node:util"
import { bridgeSimulation } from "./chats/bridge.js"
import { gmailSimulation } from "./chats/gmail.js"
import { instagramSimulation, messengerSimulation, whatsappSimulation } from "./chats/meta.js"
import { resendSimulation } from "./chats/resend.js"
import type { Connection, OpenSimulation, Simulation } from "./chats/simulation.js"
import { telegramBotSimulation } from "./chats/telegram-bot.js"
import { callFaults, Faults, faultRatesOf, hookFaults } from "./kit/faults.js"
import { mcpUsage, simulateMcp } from "./mcp/main.js"

/** The messengers that can be simulated. */
const simulations: Record<string, OpenSimulation> = {
  "telegram-bot": telegramBotSimulation,
  bridge: bridgeSimulation,
  "whatsapp-business": whatsappSimulation,
  messenger: messengerSimulation,
  instagram: instagramSimulation,
  resend: resendSimulation,
  gmail: gmailSimulation,
}

const faultNames = [...new Set([...Object.keys(callFaults), ...Object.keys(hookFaults)])].join(", ")
const usage = `npm run simulate -- ${Object.keys(simulations).join("|")} [--company ID [--assistant ID]] [--port PORT] [--hook-url URL] [--secret TEXT] [--faults NAME=PROBABILITY,…] [--seed NUMBER]
With --company the stand-in is connected to this company; the server has to be started with the printed environment.
faults: ${faultNames}
${mcpUsage}`

const text = { type: "string" } as const
const options = { company: text, assistant: text, port: text, "hook-url": text, secret: text, faults: text, seed: text }

/** Starts the stand-in that the arguments name; throws a sentence for arguments that it does not know. */
async function start(args: string[], show: (line: string) => void) {
  const { positionals, values } = parseArgs({ args, options, allowPositionals: true })
  const open = positionals.length === 1 && Object.hasOwn(simulations, positionals[0]!) ? simulations[positionals[0]!] : undefined
  if (!open) throw new Error(`Name one of the messengers: ${Object.keys(simulations).join(", ")}`)
  const [port, seed] = [Number(values.port ?? 0), Number(values.seed ?? Date.now() % 1_000_000)]
  if (!Number.isInteger(port) || !Number.isInteger(seed)) throw new Error("PORT and NUMBER are whole numbers")
  const hookUrl = values["hook-url"] ?? null
  if (hookUrl !== null && !URL.canParse(hookUrl)) throw new Error("URL must be absolute")
  const faults = new Faults(values.faults ? faultRatesOf(values.faults) : {}, seed)
  const simulation = await open({ faults, port, hookUrl, ...(values.secret && { secret: values.secret }) }, show)
  return { simulation, company: values.company, assistant: values.assistant }
}

/** The arguments of the administration command that connects the stand-in. */
const commandOf = ({ messenger, externalId, credentials }: Connection, company: string, assistant: string | undefined) => [
  ...["channel:connect", "--company", company, "--messenger", messenger, "--external-id", externalId, "--name", "Stand-in"],
  ...(assistant ? ["--assistant", assistant] : []),
  ...["--credentials", JSON.stringify(credentials)],
]

/** Connects the stand-in to a company, and returns the address of the hook; throws the command's refusal. */
async function connect(connection: Connection, company: string, assistant: string | undefined): Promise<string> {
  const admin = join(import.meta.dirname, `../src/admin/main${extname(import.meta.filename)}`)
  const args = [...process.execArgv, admin, ...commandOf(connection, company, assistant), "--json"]
  const env = { ...process.env, ...connection.environment }
  const { stdout } = await promisify(execFile)(process.execPath, args, { env }).catch((error) => {
    throw new Error(error.stderr || error.message)
  })
  return JSON.parse(stdout).hookUrl
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** Reads lines of the terminal until it ends or the user quits. */
async function chat({ commands, write }: Simulation) {
  print("Write as the customer, a line is a message. What else you can do:")
  for (const [name, command] of Object.entries(commands)) print(`  :${name} ${command.help}`)
  print("  :quit")
  for await (const line of createInterface({ input: process.stdin })) {
    const [, name, argument = ""] = /^:(\w+)\s*(.*)$/.exec(line) ?? []
    if (name === "quit") break
    try {
      if (name && Object.hasOwn(commands, name)) commands[name]!.run(argument)
      else if (name) print(`! there is no :${name}`)
      else if (line.trim()) write(line)
    } catch (error) {
      print(`! ${(error as Error).message}`)
    }
  }
}

async function main() {
  if (process.argv[2] === "mcp") return simulateMcp(process.argv.slice(3))
  const { simulation, company, assistant } = await start(process.argv.slice(2), (line) => print(`< ${line}`))
  const { connection, hooks } = simulation
  if (hooks)
    hooks.onRefused = ({ status, response }) =>
      print(`! the hook ${status ? `answered ${status}: ${response.slice(0, 200)}` : "did not answer"}`)
  try {
    const variables = Object.entries(connection.environment).map(([name, value]) => `${name}=${value}`)
    print(`The stand-in runs. The server needs: ${variables.join(" ")}`)
    print(`Stop the server if it runs without that, and start it in another terminal: ${variables.join(" ")} npm start`)
    if (company) {
      const hookUrl = await connect(connection, company, assistant)
      simulation.connected?.(hookUrl)
      print(`It is connected to the company; its hook is ${hookUrl}`)
    } else {
      const quoted = commandOf(connection, "ID", "ID").map((argument) => (/^[\w:-]+$/.test(argument) ? argument : `'${argument}'`))
      print(`Connect it with: npm run --silent admin -- ${quoted.join(" ")}`)
    }
    await chat(simulation)
  } finally {
    // An open input would keep the process.
    process.stdin.destroy()
    await simulation.close()
  }
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message.trim()}\n${usage}\n`)
  process.exitCode = 2
})
