import { readFileSync } from "node:fs"
import { toolTable } from "../../src/mcp/tools.js"

const text = readFileSync("docs/mcp-server.md", "utf8")

describe("docs/mcp-server.md", () => {
  it("has a line for each tool, in order, and says truly which only read", () => {
    const lines = [...text.matchAll(/^\| `(\w+)` \| (yes|no) \|/gm)].map(([, name, reads]) => [name, reads])
    const tools = Object.entries(toolTable).map(([name, { document }]) => [name, document.startsWith("query") ? "yes" : "no"])
    expect(lines).toEqual(tools)
  })

  it("has configurations that are JSON, with the address and the header", () => {
    const blocks = [...text.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => JSON.parse(json!))
    const configured = blocks.flatMap((block) => Object.values(block.mcpServers ?? block.servers ?? {}))
    expect(configured).toHaveLength(3)
    for (const server of configured)
      expect(server).toMatchObject({ url: "http://127.0.0.1:4000/mcp", headers: { Authorization: expect.stringMatching(/^Bearer \$\{/) } })
  })
})
