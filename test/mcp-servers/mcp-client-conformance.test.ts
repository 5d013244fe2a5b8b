import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
const program = join(import.meta.dirname, "conformance-client.js")
const run = (...args: string[]) => promisify(execFile)(process.execPath, [suite, ...args])

const person = "a person signs in there, which is not supported: such a server is unauthorized, with the reason"

/** Scenarios that do not apply to the server's client of MCP servers, each with its reason. */
const notApplicable: Record<string, string> = {
  "elicitation-sep1034-client-defaults": "the server may not ask: a call of an assistant has nobody to answer",
  "auth/metadata-default": person,
  "auth/metadata-var1": person,
  "auth/metadata-var2": person,
  "auth/metadata-var3": person,
  "auth/basic-cimd": person,
  "auth/scope-from-www-authenticate": person,
  "auth/scope-from-scopes-supported": person,
  "auth/scope-omitted-when-undefined": person,
  "auth/scope-step-up": person,
  "auth/scope-retry-limit": person,
  "auth/token-endpoint-auth-basic": person,
  "auth/token-endpoint-auth-post": person,
  "auth/token-endpoint-auth-none": person,
  "auth/pre-registration": person,
  "auth/2025-03-26-oauth-metadata-backcompat": person,
  "auth/2025-03-26-oauth-endpoint-fallback": person,
  "auth/resource-mismatch": person,
  "auth/offline-access-scope": person,
  "auth/offline-access-not-supported": person,
  "auth/client-credentials-jwt": "client credentials have a secret, not a key",
  "auth/cross-app-access-complete-flow": "tokens of a company's identity provider are not exchanged",
}

const applicable = ["initialize", "tools_call", "sse-retry", "auth/client-credentials-basic"]

interface Check {
  id: string
  status: string
}

/** How soon a client reconnects depends on the machine. */
const ofPace = ["client-sse-retry-timing"]

describe("the protocol's conformance suite for clients", () => {
  it("has no scenario but these", async () => {
    const { stdout } = await run("list", "--client")
    const [, listed = ""] = stdout.split("Client scenarios")
    const names = [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name)
    expect(names.toSorted()).toEqual([...applicable, ...Object.keys(notApplicable)].toSorted())
  })

  it.each(applicable)("%s passes", async (scenario) => {
    const folder = mkdtempSync(join(tmpdir(), "conformance-"))
    try {
      const command = `${process.execPath} ${program}`
      const ran = run("client", "--command", command, "--scenario", scenario, "--timeout", "300000", "-o", folder)
      const { stdout } = await ran.catch((error) => error as { stdout: string })
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("checks.json"))
      const checks = files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Check[])
      const failed = checks.filter(({ id, status }) => status === "FAILURE" && !ofPace.includes(id))
      expect({ failed, stdout: failed.length > 0 && stdout }).toEqual({ failed: [], stdout: false })
      expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true)
      expect(stdout).not.toContain("CLIENT EXITED WITH ERROR")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
