import { parseArgs } from "node:util"
import type { TextModel } from "../src/ports/text-model.js"
import { createCompany, makeAssistant } from "./fixtures.js"
import { judge, type Reaction, type Verdict } from "./judge.js"
import { play } from "./play.js"
import { type Line, readScript, type Script } from "./script.js"
import { chooseModel, openTestServer, serveTools, type TestServer } from "./test-server.js"

const usage = `npm run eval -- FILE … [--model NAME] [--json]
Replays the conversations of each FILE against a text model of this server and compares the answers with what was expected.
The models are those that OPENAI_… and ANTHROPIC_… configure, and the offline one; without --model, the first of them.
Ends with 0 when everything was as expected, 1 when not, 2 when the replay itself failed.`

interface Row {
  conversation: string
  line: Line
  reaction: Reaction
  verdict: Verdict
}

const systemTools = ["turnOffAiMode", "searchKnowledge", "setChatTags"]

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { model: { type: "string" }, json: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
  })
  if (values.help || positionals.length === 0) {
    process.stderr.write(`${usage}\n`)
    return values.help ? 0 : 2
  }
  const { rows, model } = await replayAll(await Promise.all(positionals.map(readScript)), await chooseModel(values.model))
  process.stdout.write(values.json ? `${JSON.stringify({ model, rows }, null, 2)}\n` : `${table(rows)}\n${total(rows, model)}\n`)
  return rows.every(({ verdict }) => verdict.faults.length === 0) ? 0 : 1
}

/** Replays all scripts on one server, each in its own company. */
async function replayAll(scripts: Script[], model: TextModel): Promise<{ rows: Row[]; model: string }> {
  const testServer = await openTestServer()
  try {
    const rows: Row[] = []
    for (const script of scripts) {
      const isSkipped = script.needsVendor && model.provider === "offline"
      if (isSkipped) process.stderr.write(`${script.assistant.name}: skipped, because it needs a model of a vendor\n`)
      else rows.push(...(await replay(testServer, script, model)))
    }
    return { rows, model: model.name }
  } finally {
    await testServer.close()
  }
}

async function replay(testServer: TestServer, script: Script, model: TextModel): Promise<Row[]> {
  const endpoints = await serveTools(script)
  try {
    const client = await createCompany(testServer)
    const assistantId = await makeAssistant(client, endpoints, script, model.id)
    const rows: Row[] = []
    for (const conversation of script.conversations) {
      const reactions = await play(client, assistantId, conversation)
      for (const [index, line] of conversation.lines.entries()) {
        const reaction = reactions[index]
        rows.push(reaction ? rowOf(conversation.name, line, reaction) : unheard(conversation.name, line))
      }
    }
    return rows
  } finally {
    await endpoints.close()
  }
}

/** Judges only the tools of the script; the platform's own tools show in their effects. */
function rowOf(conversation: string, line: Line, reaction: Reaction): Row {
  const calls = reaction.calls.filter(({ name }) => !systemTools.includes(name))
  return { conversation, line, reaction, verdict: judge(line, { ...reaction, calls }) }
}

/** A line that the assistant never read, because it had handed the chat over before. */
function unheard(conversation: string, line: Line): Row {
  const nothing = { answer: "", calls: [], hits: null, handedOff: true, milliseconds: 0, inputTokens: null, outputTokens: null }
  return {
    conversation,
    line,
    reaction: nothing,
    verdict: { tools: null, facts: null, hits: null, handOff: false, faults: ["was handed over before"] },
  }
}

const mark = (held: boolean | null) => (held === null ? "" : held ? "ok" : "FAILED")
const cut = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text)
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

function table(rows: Row[]): string {
  const head = ["conversation", "customer", "answer", "tools", "facts", "hits", "hand-off", "ms", "tokens", "what was missed"]
  const cells = rows.map(({ conversation, line, reaction, verdict }) => [
    cut(conversation, 24),
    cut(oneLine([line.customer].flat().join(" / ")), 34),
    cut(oneLine(reaction.answer), 44),
    mark(verdict.tools),
    mark(verdict.facts),
    mark(verdict.hits),
    mark(verdict.handOff),
    String(reaction.milliseconds),
    reaction.inputTokens === null ? "" : `${reaction.inputTokens}+${reaction.outputTokens ?? 0}`,
    verdict.faults.join("; "),
  ])
  const all = [head, ...cells]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

function total(rows: Row[], model: string): string {
  const good = rows.filter(({ verdict }) => verdict.faults.length === 0).length
  return `\n${good} of ${rows.length} lines as expected, by ${model}`
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exit(2)
  },
)
