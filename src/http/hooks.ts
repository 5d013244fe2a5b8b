import Router from "@koa/router"
import { connectionOf } from "../channels/connection.js"
import { receiveFromWidget } from "../channels/widget.js"
import type { Services } from "../context/services.js"
import { NotFound } from "../errors.js"
import { readJson } from "./body.js"

/** Routes on which channels deliver customers' messages. */
export function hookRouter(services: Services): Router {
  return new Router().post("/hooks/:messenger/:connectionId", async (ctx) => {
    const { messenger = "", connectionId = "" } = ctx["params"]
    if (messenger !== "widget") throw new NotFound("Connection")
    const connection = await connectionOf(services.database, messenger, connectionId)
    ctx.body = await receiveFromWidget(services, connection, ctx.ip, await readJson(ctx))
    ctx.status = 201
  })
}
