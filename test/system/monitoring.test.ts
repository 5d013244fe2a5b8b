import { readFileSync } from "node:fs"
import { hasPrometheus, type Prometheus, startPrometheus } from "../kit/prometheus.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

interface Panel {
  title: string
  targets?: { refId: string; expr: string }[]
}

/** An alert as Prometheus tells of it. */
interface EvaluatedRule {
  name: string
  health: string
  lastError?: string
  lastEvaluation: string
}

const panels: Panel[] = JSON.parse(readFileSync("deploy/grafana/dashboard.json", "utf8")).panels
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ refId, expr }) => [`${title}, ${refId}`, expr] as [string, string]),
)
const token = "a token for scraping"

;(hasPrometheus ? describe : describe.skip)(
  `Prometheus${hasPrometheus ? "" : " (skipped: there is no prometheus on this machine)"}`,
  () => {
    const w = world({ METRICS_TOKEN: token, REPLY_DEBOUNCE_MS: "0" })
    const { acme } = w
    let endpoint: Receiver
    let prometheus: Prometheus

    beforeAll(async () => {
      const other = await w.another()
      prometheus = await startPrometheus(
        [w.url, other.url].map((url) => new URL(url).host),
        token,
      )
      endpoint = await receiver()
      await acme.eventWebhook({ url: endpoint.url, types: ["MESSAGE_CREATED"] })
      // The assistant answers, and the integrator gets the event of it.
      const chat = await acme.chat({ assistantId: acme.assistant.id })
      await acme.message({ chatId: chat.id, role: "Customer", text: "When are you open?" })
      // A connection without credentials: its delivery is an attempt that fails.
      await acme.connection("telegram", "shop")
      const onMessenger = await acme.chat({ messenger: "telegram", fromId: "shop" })
      await acme.message({ chatId: onMessenger.id, text: "Your parcel is on its way." })
    })
    afterAll(async () => {
      await prometheus.stop()
      await endpoint.close()
    })

    const bothAreScraped = () => {
      const up = 'up{job="assistant-platform"} == 1'
      return until(
        "both instances are scraped",
        async () => (await prometheus.query(up)).length === 2,
        () => prometheus.query("up"),
      )
    }

    it("scrapes two instances with the token, by the committed configuration", bothAreScraped)

    it("evaluates every alert without an error", async () => {
      await bothAreScraped()
      const since = Date.now()
      const rules = async (): Promise<EvaluatedRule[]> =>
        (await prometheus.get("/api/v1/rules")).groups.flatMap((group: { rules: EvaluatedRule[] }) => group.rules)
      const areEvaluated = async () => (await rules()).every(({ lastEvaluation }) => Date.parse(lastEvaluation) > since)
      await until("all alerts were evaluated with these series", areEvaluated, rules)
      expect(
        (await rules()).map(({ name, health, lastError }) => ({ name, health, lastError })).filter(({ health }) => health !== "ok"),
      ).toEqual([])
    })

    it.each(queries)("shows %s", async (_panel, query) => {
      const asked = query.replaceAll("$instance", ".+").replaceAll("$__rate_interval", "1m")
      expect(asked).not.toContain("$")
      // Two scrapes after what happened above a rate has a value.
      await until("the query gives a series", async () => (await prometheus.query(asked)).length > 0)
    })

    it("refuses what is no query", async () => {
      await expect(prometheus.query("sum by (platform_work_due")).rejects.toThrow("parse error")
    })
  },
)
