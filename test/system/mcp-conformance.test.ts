import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { type TokenProxy, tokenProxy } from "../kit/token-proxy.js"
import { happens } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
const run = promisify(execFile)

const ofReference = (tool: string) => `calls ${tool}, a tool that only the reference server has`
const noResources = "the platform offers tools, and no resources"
const noPrompts = "the platform offers tools, and no prompts"

/** Scenarios of the suite that say nothing about this server, each with the reason; they fail, or warn. All others pass. */
const notOurs: Record<string, string> = {
  "logging-set-level": "the server sends no log messages to clients",
  "completion-complete": "completes arguments of prompts and resources, which the platform has not",
  "tools-call-simple-text": ofReference("test_simple_text"),
  "tools-call-image": ofReference("test_image_content"),
  "tools-call-audio": ofReference("test_audio_content"),
  "tools-call-embedded-resource": ofReference("test_embedded_resource"),
  "tools-call-mixed-content": ofReference("test_multiple_content_types"),
  "tools-call-with-logging": ofReference("test_tool_with_logging"),
  "tools-call-error": ofReference("test_error_handling"),
  "tools-call-with-progress": ofReference("test_tool_with_progress"),
  "tools-call-sampling": ofReference("test_sampling"),
  "tools-call-elicitation": ofReference("test_elicitation"),
  "json-schema-2020-12": ofReference("json_schema_2020_12_tool"),
  "elicitation-sep1034-defaults": ofReference("test_elicitation_sep1034_defaults"),
  "elicitation-sep1330-enums": ofReference("test_elicitation_sep1330_enums"),
  "server-sse-polling": "resumes a stream of a session; the server keeps none",
  "server-sse-multiple-streams": "opens several streams of a session; the server keeps none",
  "resources-list": noResources,
  "resources-read-text": noResources,
  "resources-read-binary": noResources,
  "resources-templates-read": noResources,
  "resources-subscribe": noResources,
  "resources-unsubscribe": noResources,
  "prompts-list": noPrompts,
  "prompts-get-simple": noPrompts,
  "prompts-get-with-args": noPrompts,
  "prompts-get-embedded-resource": noPrompts,
  "prompts-get-with-image": noPrompts,
}

interface Check {
  id: string
  status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO"
  errorMessage?: string
}

const folder = mkdtempSync(join(tmpdir(), "mcp-conformance-"))
let proxy: TokenProxy
let results: Map<string, Check[]>
let known: string[]

beforeAll(async () => {
  const listed = await happens("the suite lists its scenarios", run(process.execPath, [suite, "list", "--server"]))
  known = [...listed.stdout.matchAll(/^ +- (\S+) \[/gm)].map(([, name]) => name!)
  // The suite sends no token. For a browser, the address of the proxy is that of the server.
  proxy = await tokenProxy()
  const { url } = await w.another({ PUBLIC_URL: proxy.url })
  proxy.target(url, w.acme.token)
  const command = [suite, "server", "--url", `${proxy.url}/mcp`, "--suite", "all", "--output-dir", folder]
  // Its exit code tells only that some scenario has failed.
  await happens(
    "the suite has ended",
    run(process.execPath, command).catch(() => {}),
  )
  const checksIn = (name: string): Check[] => JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"))
  results = new Map(readdirSync(folder).map((name) => [/^server-(.*?)-\d{4}-\d\d-\d\dT/.exec(name)![1]!, checksIn(name)]))
})

afterAll(async () => {
  await proxy.close()
  rmSync(folder, { recursive: true })
})

/** What keeps a scenario from passing. */
const faultsOf = (name: string) => {
  const checks = results.get(name) ?? []
  const faults = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING")
  if (faults.length === 0 && !checks.some(({ status }) => status === "SUCCESS")) return ["checked nothing"]
  return faults.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? "warning"}`)
}

it("the conformance suite runs each of its scenarios against the server", () => {
  expect(known).toEqual(expect.arrayContaining(["server-initialize", "tools-list", "ping", "dns-rebinding-protection"]))
  expect([...results.keys()].sort()).toEqual([...known].sort())
})

it("every scenario about what the platform offers passes", () => {
  const faults = known.filter((name) => !Object.hasOwn(notOurs, name)).map((name) => [name, faultsOf(name)])
  expect(faults).toEqual(faults.map(([name]) => [name, []]))
})

it("what is said to be of no concern exists, and does not pass", () => {
  const stale = Object.keys(notOurs).filter((name) => !known.includes(name) || faultsOf(name).length === 0)
  expect(stale).toEqual([])
})
