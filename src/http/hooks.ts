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
    const body = await readJson(ctx).catch(async (error) => {
      // An unknown connection is reported before a body that cannot be read.
      await connectionOf(services.database, messenger, connectionId)
      throw error
    })
    ctx.body = await receiveFromWidget(services, connectionId, ctx.ip, body)
    ctx.status = 201
  })
}
