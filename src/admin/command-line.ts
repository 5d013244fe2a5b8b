import "reflect-metadata"
import { text } from "node:stream/consumers"
import { ConfigError, readConfig } from "../config/config.js"
import { meantBy } from "../config/misspelt.js"
import { ApiError } from "../errors/errors.js"
import { serverVersion } from "../http/version.js"
import { auditCommands } from "./audit.js"
import { backupCommands } from "./backups.js"
import { channelCommands } from "./channels.js"
import { checkCommands } from "./checks.js"
import { dataCommands } from "./data.js"
import { embeddedCommands } from "./embedded.js"
import { encryptionCommands } from "./encryption.js"
import { type Command, type OfflineCommand, type OptionRule, Refusal, readOptions, UsageError } from "./kit.js"
import { knowledgeCommands } from "./knowledge.js"
import { databaseOf, openCommandContext } from "./open.js"
import { peopleCommands } from "./people.js"
import { sessionCommands } from "./sessions.js"
import { tokenCommands } from "./tokens.js"

const commands: Record<string, Command | OfflineCommand> = {
  ...peopleCommands,
  ...sessionCommands,
  ...channelCommands,
  ...tokenCommands,
  ...knowledgeCommands,
  ...encryptionCommands,
  ...auditCommands,
  ...checkCommands,
  ...embeddedCommands,
  ...backupCommands,
  ...dataCommands,
}

/** How an option is written. */
const nameOf = (option: string, { positional }: OptionRule) => (positional ? option.toUpperCase() : `--${option}`)

/** One line of usage of a command, and what it does. */
function usageOf(name: string, { options, does }: Command | OfflineCommand): string {
  const words = Object.entries(options).map(([option, rule]) => {
    const usage = nameOf(option, rule) + (rule.flag || rule.positional ? "" : " …")
    return rule.required ? usage : `[${usage}]`
  })
  return `  ${[name, ...words].join(" ")}\n      ${does}`
}

/** The usage text of the command line. */
const usage = (): string =>
  [
    "npm run --silent admin -- COMMAND [--json]",
    ...Object.entries(commands).map(([name, command]) => usageOf(name, command)),
    "  COMMAND --help: the options of a command; --version: the version of this server",
  ].join("\n")

/** The usage of one command with its options. */
const described = (name: string, command: Command | OfflineCommand): string =>
  [
    usageOf(name, command),
    ...Object.entries(command.options).map(
      ([option, rule]) => `      ${nameOf(option, rule)}: ${rule.description}${rule.secret ? "; - reads it from standard input" : ""}`,
    ),
  ].join("\n")

/** Runs one command on the server's database. */
async function run(
  name: string,
  command: Command | OfflineCommand,
  args: string[],
  environment: NodeJS.ProcessEnv,
  outcome: Outcome,
): Promise<object> {
  const options = await withSecrets(command, readOptions(command, args))
  const config = readConfig(environment)
  if ("runOffline" in command) return command.runOffline(config, options)
  await using stack = new AsyncDisposableStack()
  const desk = await openCommandContext(config, stack, name, (line) => outcome.warnings.push(line))
  outcome.database = databaseOf(config)
  // Awaited here: the stack is closed when the command has ended.
  return await command.run(desk, options)
}

/** The options of a command, of which a secret one that is `-` is read from standard input, without the end of its line. */
async function withSecrets({ options: rules }: Command | OfflineCommand, options: Record<string, string | undefined>) {
  const [name] = Object.keys(rules).filter((each) => rules[each]!.secret && options[each] === "-")
  if (!name) return options
  const given = await text(process.stdin)
  const value = rules[name]!.verbatim ? given.replace(/\r?\n$/, "") : given.trim()
  if (!value) throw new UsageError(`--${name} is -, and standard input is empty`)
  return { ...options, [name]: value }
}

/** What a command leaves beside its result: the database that it worked on, once that is open, and lines that do not fail it. */
interface Outcome {
  database?: string
  warnings: string[]
}

/** How a command ended. */
export interface Ended {
  code: 0 | 1 | 2
  stdout: string
  stderr: string
}

/** Runs a command line and returns its output and exit code; `prepare` completes the environment before. */
export async function execute([name, ...args]: string[], environment: NodeJS.ProcessEnv, prepare = () => {}): Promise<Ended> {
  const outcome: Outcome = { warnings: [] }
  try {
    prepare()
    const result = await answer(name, args, environment, outcome)
    const lines = [...(outcome.database ? [`Database: ${outcome.database}`] : []), ...outcome.warnings]
    return { code: 0, stdout: `${result}\n`, stderr: lines.map((line) => `${line}\n`).join("") }
  } catch (error) {
    return { code: error instanceof UsageError ? 2 : 1, stdout: "", stderr: `${sentenceOf(error as Error, outcome)}\n` }
  }
}

/** One line for an error of the operator, which also names the database that refused; other errors with their stack. */
function sentenceOf(error: Error, { database }: Outcome): string {
  if ((error instanceof Refusal || error instanceof ApiError) && database) return `${error.message} (${database})`
  const isSentence = [Refusal, ApiError, UsageError, ConfigError].some((kind) => error instanceof kind) || !error.stack
  return isSentence ? error.message : error.stack!
}

/** Names the command that is probably meant, or those about the same, or how to list all. */
function proposalFor(name: string): string {
  const names = Object.keys(commands)
  const meant = meantBy(name, names)
  if (meant) return `is ${meant} meant?`
  const [subject] = name.split(":")
  const alike = names.filter((each) => each.split(":")[0] === subject)
  return alike.length > 0 ? `of ${subject} there are ${alike.join(", ")}` : "without a command all are listed"
}

async function answer(name: string | undefined, args: string[], environment: NodeJS.ProcessEnv, outcome: Outcome): Promise<string> {
  if (!name || name === "--help" || name === "help") return usage()
  if (name === "--version") return serverVersion
  const command = commands[name]
  if (command && Object.hasOwn(commands, name) && args.includes("--help")) return described(name, command)
  if (!command || !Object.hasOwn(commands, name)) throw new UsageError(`There is no command ${name}; ${proposalFor(name)}`)
  const result = await run(name, command, args, environment, outcome)
  return args.includes("--json") ? JSON.stringify(result) : JSON.stringify(result, null, 2)
}
