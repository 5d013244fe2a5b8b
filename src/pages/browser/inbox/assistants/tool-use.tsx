import { useState } from "react"
import type { Tool } from "./operations.js"
import { ToolCalls } from "./tool-calls.js"
import { ToolTest } from "./tool-test.js"

/** A test call of a tool, where the server makes one, and the log of its calls. */
export function ToolUse({ tool, isTestable }: { tool: Tool; isTestable: boolean }) {
  const [calls, setCalls] = useState(0)
  return (
    <>
      {isTestable && <ToolTest tool={tool} called={() => setCalls(calls + 1)} />}
      <ToolCalls toolId={tool.id} calls={calls} />
    </>
  )
}
