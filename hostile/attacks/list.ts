import { analysis } from "./analysis.js"
import type { Attack } from "./attack.js"
import { bounds } from "./bounds.js"
import { extraction } from "./extraction.js"
import { hangingPages } from "./hanging-pages.js"
import { hookBatches } from "./hook-batches.js"
import { hookFlood } from "./hook-flood.js"
import { hooks } from "./hooks.js"
import { mcp } from "./mcp.js"
import { mcpServers } from "./mcp-servers.js"
import { pipelining } from "./pipelining.js"
import { schemaBombs } from "./schema-bombs.js"
import { socketIo } from "./socket-io.js"
import { strangers } from "./strangers.js"
import { subscriptions } from "./subscriptions.js"
import { unreadSocket } from "./unread-socket.js"
import { uploadMaps } from "./upload-maps.js"

/** All attacks, in the order in which they run. */
export const attacks: Record<string, Attack> = {
  "upload-maps": uploadMaps,
  "schema-bombs": schemaBombs,
  "unread-socket": unreadSocket,
  "socket-io": socketIo,
  strangers,
  extraction,
  subscriptions,
  bounds,
  mcp,
  pipelining,
  analysis,
  "hanging-pages": hangingPages,
  "mcp-servers": mcpServers,
  hooks,
  "hook-flood": hookFlood,
  "hook-batches": hookBatches,
}
