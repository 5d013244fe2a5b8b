import "reflect-metadata"
import pino from "pino"
import { ConfigError, readConfig } from "../config.js"
import { connect } from "../database/connect.js"
import { openEmbedded } from "../database/embedded.js"
import { migrate } from "../database/migrate.js"
import { ApiError } from "../errors.js"
import { postgresPublisher, redisWakeUp } from "../events/wake-up.js"
import { loadSecrets } from "../secrets.js"
import { checkCommands } from "./checks.js"
import { connectionCommands } from "./connections.js"
import { encryptionCommands } from "./encryption.js"
import { type Command, Refusal, readOptions, UsageError } from "./kit.js"
import { knowledgeCommands } from "./knowledge.js"
import { peopleCommands } from "./people.js"

const commands: Record<string, Command> = {
  ...peopleCommands,
  ...connectionCommands,
  ...knowledgeCommands,
  ...encryptionCommands,
  ...checkCommands,
}

/** What can be said to the command line. */
function usage(): string {
  const lines = Object.entries(commands).map(([name, { options, does }]) => {
    const words = Object.entries(options).map(([option, { required }]) => (required ? `--${option} …` : `[--${option} …]`))
    return `  ${[name, ...words].join(" ")}\n      ${does}`
  })
  return ["npm run --silent admin -- COMMAND [--json]", ...lines].join("\n")
}

/** Runs one command on the server's database, beside a running server or without one. */
async function run(command: Command, args: string[]): Promise<object> {
  const options = readOptions(command, args)
  const config = readConfig(process.env)
  await using stack = new AsyncDisposableStack()
  const log = pino({ level: "silent" })
  const embedded = config.databaseUrl ? null : await openEmbedded({ dataDir: config.dataDir, role: "command", log: () => {} })
  if (embedded) stack.defer(() => embedded.stop())
  const url = config.databaseUrl ?? embedded!.url
  const database = await connect(url)
  stack.defer(() => database.close())
  await migrate(database)
  const redis = config.redisUrl ? await redisWakeUp(config.redisUrl, log) : null
  stack.defer(() => redis?.close())
  const wakeUp = redis ?? postgresPublisher(database.pool)
  const { encryptionKey } = await loadSecrets(config)
  // Awaited here: what is put away below must outlive the command.
  return await command.run({ config, database, wakeUp, encryptionKey }, options)
}

async function main() {
  const [name, ...args] = process.argv.slice(2)
  if (!name || name === "--help") return void process.stdout.write(`${usage()}\n`)
  const command = commands[name]
  if (!command || !Object.hasOwn(commands, name)) throw new UsageError(`There is no command ${name}; without a command all are listed`)
  const result = await run(command, args)
  process.stdout.write(`${args.includes("--json") ? JSON.stringify(result) : JSON.stringify(result, null, 2)}\n`)
}

main().catch((error: unknown) => {
  const isSentence = [Refusal, ApiError, UsageError, ConfigError].some((kind) => error instanceof kind) || !(error as Error).stack
  process.stderr.write(`${isSentence ? (error as Error).message : (error as Error).stack}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
})
