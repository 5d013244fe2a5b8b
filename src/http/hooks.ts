import Router from "@koa/router"
import { connectionOf } from "../channels/connection.js"
import { receiveFromWidget } from "../channels/widget.js"
import { addressKey } from "../context/rate-limit.js"
import type { RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { NotFound } from "../errors.js"
import { readJson } from "./body.js"

/** Routes on which channels deliver customers' messages. */
export function hookRouter(services: Services): Router {
  return new Router().post("/hooks/:messenger/:connectionId", async (ctx) => {
    const { messenger = "", connectionId = "" } = ctx["params"]
    if (messenger !== "widget") throw new NotFound("Connection")
    const request: RequestInfo = ctx.state["request"]
    await services.limits.address.count(addressKey(request.address), request.headers)
    const body = await readJson(ctx).catch(async (error) => {
      // An unknown connection is reported before a body that cannot be read.
      await connectionOf(services.database, messenger, connectionId)
      throw error
    })
    ctx.body = await receiveFromWidget(services, connectionId, request, body)
    ctx.status = 201
  })
}
