import { useRef } from "react"
import { type CombinedError, useClient } from "urql"
import { useRead } from "../kit/forms.js"
import { useNotice } from "../kit/notices.js"
import { sentenceOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { type Assistant, type McpTool, mcpToolsQuery, setMcpTools } from "./operations.js"

/** Where a tool of an MCP server stands for the assistant. `changed` also when it was switched off before its server changed it. */
export type Standing = "on" | "off" | "changed" | "gone"

export function standingOf(tool: McpTool): Standing {
  const { state, digest, acceptedDigest } = tool
  if (state === "GONE") return "gone"
  if (state === "CHANGED" || (acceptedDigest && acceptedDigest !== digest)) return "changed"
  return state === "ENABLED" ? "on" : "off"
}

const isSame = (one: McpTool, other: McpTool) => one.server.id === other.server.id && one.name === other.name

/**
 * The tools to name after a choice about one of them: the server switches off those that are not named. The others are named as they were
 * accepted, which accepts no change of them; the chosen one as it was shown, so that a change that nobody has seen is refused.
 */
function namedWith(tools: McpTool[], chosen: McpTool, isOn: boolean) {
  const others = tools.filter((tool) => tool.tool && tool.tool.mcpState !== "AVAILABLE" && !isSame(tool, chosen))
  return [
    ...others.map(({ server, name, acceptedDigest }) => ({ serverId: server.id, name, digest: acceptedDigest })),
    ...(isOn ? [{ serverId: chosen.server.id, name: chosen.name, digest: chosen.digest }] : []),
  ]
}

/** Whether the server refused a tool because it is no longer as it was read. */
const isOutdated = ({ graphQLErrors }: CombinedError) => {
  const details = graphQLErrors[0]?.extensions["details"] as { path: string }[] | undefined
  return details?.some(({ path }) => /^tools\.\d+\./.test(path)) ?? false
}

/** The tools of MCP servers for an assistant, and how to choose about one: true when the server stored it. */
export function useMcpTools({ id: assistantId, companyId }: Assistant, changed: () => void) {
  const client = useClient()
  const notice = useNotice()
  const variables = { assistantId, companyId }
  const { data, instead } = useRead(mcpToolsQuery, variables)
  const readNow = () => client.query(mcpToolsQuery, variables, { requestPolicy: "network-only" }).toPromise()
  /** The last choice: the next one waits for it, because the whole list is sent each time. */
  const last = useRef<Promise<unknown>>(Promise.resolve())
  function choose(tool: McpTool, isOn: boolean): Promise<boolean> {
    const stored = last.current.then(() => send(tool, isOn))
    last.current = stored
    return stored
  }
  async function send(chosen: McpTool, isOn: boolean): Promise<boolean> {
    // Another person may have enabled others meanwhile. The chosen one is sent as it was shown.
    const read = await readNow()
    const tools = namedWith(read.data?.assistant?.mcpTools ?? [], chosen, isOn)
    const error = read.error ?? (await client.mutation(setMcpTools, { assistantId, tools }).toPromise()).error
    if (error)
      notice(
        isOutdated(error)
          ? t("The tool has changed since it was shown, and was read again. Look at it before you choose.")
          : sentenceOf(error),
      )
    else changed()
    await readNow()
    return !error
  }
  return { data, instead, choose }
}
