import { connectionOf } from "../channels/connection.js"
import { addressKey } from "../context/rate-limit.js"
import type { RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { NotFound } from "../errors/errors.js"
import type { FindWidget } from "../pages/widget-pages.js"

/** Returns whether there is a widget with a connection's id; counted like other requests without credentials. */
export const widgetFinder =
  (services: Services): FindWidget =>
  async (context, connectionId) => {
    const request: RequestInfo = context.state["request"]
    await services.limits.address.count(addressKey(request.address), request.headers)
    return connectionOf(services.database, "widget", connectionId).then(
      () => true,
      (error) => {
        if (error instanceof NotFound) return false
        throw error
      },
    )
  }
