import Router from "@koa/router"
import { receiveFromWidget } from "../channels/widget.js"
import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { isUuid } from "../entities/kit/scalars.js"
import { NotFound } from "../errors.js"
import { readJson } from "./body.js"

const connectionById: Statement<RowOf<"Channel", "id" | "company_id" | "external_id" | "assistant_id">> = {
  name: "connection-by-id",
  text: "select id, company_id, messenger, external_id, assistant_id from channel where id = $1 and messenger = $2 and is_active",
}

/** What a hook needs to know of its connection. */
export interface Connection {
  id: string
  companyId: string
  externalId: string
  assistantId: string | null
}

/** The connection that a hook's address names; unknown, malformed, disconnected or of another messenger: 404. */
async function connectionOf(services: Services, messenger: string, id: string): Promise<Connection> {
  const [row] = isUuid(id) ? await unscoped(services.database, connectionById, [id, messenger]) : []
  if (!row) throw new NotFound("Connection")
  return { id: row.id, companyId: row.company_id, externalId: row.external_id, assistantId: row.assistant_id }
}

/** Where channels bring what customers write. */
export function hookRouter(services: Services): Router {
  return new Router().post("/hooks/:messenger/:connectionId", async (ctx) => {
    const { messenger = "", connectionId = "" } = ctx["params"]
    if (messenger !== "widget") throw new NotFound("Connection")
    const connection = await connectionOf(services, messenger, connectionId)
    ctx.body = await receiveFromWidget(services, connection, ctx.ip, await readJson(ctx))
    ctx.status = 201
  })
}
