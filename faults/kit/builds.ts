import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { bundleServer } from "../../scripts/bundle-server.js"

/** The folder of this repository. */
export const repository = resolve(import.meta.dirname, "../..")

/** A line of the built server, and its replacement in a mutant. */
export interface Mutation {
  file: string
  line: string
  instead: string
}

/** The mutations of the server. */
export const mutations = {
  /** An answer is stored even after a person has taken the chat over. */
  fence: {
    file: "dist/src/entities/chat-turn.js",
    line: "return this.turn.holds(turnId) && this.isAnsweredByAi;",
    instead: "return true;",
  },
  /** The same for the statement that stores usual answers. */
  "statement-fence": {
    file: "dist/src/assistant/answer.js",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the built file
    line: " and turn_id = $20 and open_calls = '[]' and ${isAnswered}",
    instead: " and open_calls = '[]'",
  },
  /**
   * A running turn stays with its worker for ever, so that a killed worker's customer waits for ever. (The other way round, a lease that
   * nobody respects, cannot show as two answers: the fence lets the newest worker store alone.)
   */
  lease: {
    file: "dist/src/entities/kit/work-state.js",
    line: "return this.leaseUntil !== null && this.leaseUntil <= now;",
    instead: "return false;",
  },
  /** A call whose worker was lost stays without its output for ever. */
  frames: {
    file: "dist/src/entities/chat-turn.js",
    line: "for (const callId of openCalls)",
    instead: "for (const callId of [])",
  },
  /** A running indexing stays with its worker for ever, so that what a killed one had under way stays pending. */
  "indexing-lease": {
    file: "dist/src/entities/kit/work-state.js",
    line: "return this.leaseUntil !== null && this.leaseUntil <= now;",
    instead: "return false;",
  },
  /** A customer's message does not keep its ID on the channel, by which a repeated one is recognized. */
  "repeat-check": {
    file: "dist/src/channels/message.js",
    line: "externalId,\n    sender: sender ?",
    instead: "externalId: null,\n    sender: sender ?",
  },
  /** A message is sent without a mark that its request has left: nobody knows of a request without a response. */
  "sending-mark": {
    file: "dist/src/channels/deliver.js",
    line: "await markSending(lease, delivery);",
    instead: "",
  },
  /** A call is dialed without a record of the intent: a worker that finds it after a crash does not know that it was dialed. */
  "dial-intent": {
    file: "dist/src/entities/call.js",
    line: "dialedAt: clock.now(), dynamicVariables: variables",
    instead: "dynamicVariables: variables",
  },
  /** A call of a tool of an MCP server is repeated when it failed, as if nothing had been done. */
  "mcp-call-once": {
    file: "dist/src/assistant/execute.js",
    line: "callMcpTool(context, tool, call, signal)",
    instead: "callMcpTool(context, tool, call, signal).then((came) => came.success ? came : callMcpTool(context, tool, call, signal))",
  },
  /** A message is sent although a take-over has cancelled it since its delivery began. */
  withdrawal: {
    file: "dist/src/channels/deliver.js",
    line: "throw new Withdrawn();",
    instead: ";",
  },
} satisfies Record<string, Mutation>

/** A name of the list above. */
export type MutationName = keyof typeof mutations

/**
 * Copies the built server below a folder, so that a build meanwhile changes nothing, and so that a mutant differs from the sound server by
 * its one line alone. Throws when that line is not there exactly once.
 */
export async function copyBuild(folder: string, without?: MutationName): Promise<string> {
  const copy = join(folder, without ? `without-${without}` : "sound")
  mkdirSync(copy, { recursive: true })
  cpSync(realpathSync(join(repository, "dist")), join(copy, "dist"), { recursive: true })
  cpSync(join(repository, "package.json"), join(copy, "package.json"))
  symlinkSync(join(repository, "node_modules"), join(copy, "node_modules"))
  if (without) {
    mutate(copy, mutations[without])
    await bundleServer(join(copy, "dist"))
  }
  return copy
}

function mutate(copy: string, { file, line, instead }: Mutation) {
  const path = join(copy, file)
  const parts = readFileSync(path, "utf8").split(line)
  if (parts.length !== 2) throw new Error(`${file} holds the line to mutate ${parts.length - 1} times, not once: ${line}`)
  writeFileSync(path, parts.join(instead))
}
