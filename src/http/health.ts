import Router from "@koa/router"
import type { Services } from "../context/services.js"

/** `/health/live`: the process runs. `/health/ready`: the database and the job store answer. */
export function healthRouter(services: Services): Router {
  return new Router()
    .get("/health/live", (ctx) => {
      ctx.body = { status: "ok" }
    })
    .get("/health/ready", async (ctx) => {
      const checks = { database: await answers(services.database.pool.query("select 1")), queue: await answers(services.scheduler.ping()) }
      const isReady = !services.stopping.aborted && checks.database && checks.queue
      ctx.status = isReady ? 200 : 503
      ctx.body = { status: isReady ? "ok" : "unavailable", ...checks }
    })
}

const answers = (question: Promise<unknown>) =>
  question.then(
    () => true,
    () => false,
  )
