import Router from "@koa/router"
import type { Services } from "../context/services.js"

/** `/health/live`: the process runs. `/health/ready`: the database and the job store answer. */
export function healthRouter(services: Pick<Services, "database" | "scheduler" | "stopping">): Router {
  return new Router()
    .get("/health/live", (ctx) => {
      ctx.body = { status: "ok" }
    })
    .get("/health/ready", async (ctx) => {
      const questions = [services.database.pool.query("select 1"), services.scheduler.ping()]
      const [database, queue] = await Promise.all(questions.map(answers))
      const isReady = !services.stopping.aborted && database && queue
      ctx.status = isReady ? 200 : 503
      ctx.body = { status: isReady ? "ok" : "unavailable", database, queue }
    })
}

const answers = (question: Promise<unknown>) =>
  question.then(
    () => true,
    () => false,
  )
