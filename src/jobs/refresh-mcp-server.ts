import { doubling } from "../entities/kit/work-state.js"
import { McpServer } from "../entities/mcp-server.js"
import { mcpServerLimits } from "../mcp-servers/limits.js"
import { beginRefresh, refresh } from "../mcp-servers/refresh.js"
import { defineWork } from "./kit/work.js"

const { leaseMs, renewMs, slots, sweepSeconds, faultPauseMs, faultPauseMaxMs } = mcpServerLimits

/** Lists the tools of an MCP server, each hour. */
export const refreshMcpServer = defineWork({
  name: "refresh-mcp-server",
  entity: McpServer,
  columns: "refreshing",
  lease: { ms: leaseMs, renewMs },
  // A server that cannot be listed is a result; these are faults of this server.
  retry: { tries: Number.POSITIVE_INFINITY, pauseMs: doubling(faultPauseMs, faultPauseMaxMs) },
  slots,
  sweepSeconds,
  claim: beginRefresh,
  run: refresh,
  failure({ request: { log } }, error) {
    log.error({ err: error }, "an MCP server could not be listed")
    return { reason: "The MCP server could not be listed" }
  },
  giveUp() {},
  undo: (server) => server.keepUpdatedAt(),
})
