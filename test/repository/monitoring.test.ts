import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Metric, Registry } from "prom-client"
import { parse } from "yaml"
import { headings } from "../../scripts/links.js"
import { sourcesBelow } from "../kit/house-rules.js"
import { hasPromtool } from "../kit/prometheus.js"
import { groupingsOf, selectorsOf } from "../kit/promql.js"
import { happens } from "../kit/wait.js"
import { world } from "../kit/world.js"

interface Alert {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; description: string; runbook: string }
}
interface UnitTest {
  name: string
  promql_expr_test: { expr: string; exp_samples: { labels: string }[] }[]
}
interface Panel {
  title: string
  targets?: { expr: string }[]
}

const w = world()
const yamlOf = (path: string) => parse(readFileSync(path, "utf8"))
const alerts: Alert[] = yamlOf("deploy/prometheus/alerts.yml").groups.flatMap(({ rules }: { rules: Alert[] }) => rules)
const panels: Panel[] = JSON.parse(readFileSync("deploy/grafana/dashboard.json", "utf8")).panels
const prometheus = yamlOf("deploy/prometheus/prometheus.yml")
const operations = readFileSync("docs/operations.md", "utf8")

/** Every query of the alerts and of the dashboard, by where it is. */
const queries: [where: string, query: string][] = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as [string, string]),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as [string, string])),
]

const itWithPromtool = hasPromtool ? it : it.skip
const skipped = hasPromtool ? "" : " (skipped: there is no promtool on this machine)"

/** Runs promtool in a copy of deploy/prometheus, whose files the test may change. */
async function promtool(args: string[], change: (folder: string) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), "prometheus-"))
  cpSync("deploy/prometheus", folder, { recursive: true })
  change(folder)
  const child = spawn("promtool", args, { cwd: folder })
  let said = ""
  for (const output of [child.stdout, child.stderr]) output.on("data", (text) => (said += text))
  const [status] = (await happens(`promtool ${args.join(" ")} has ended`, once(child, "close"), () => said)) as [number]
  rmSync(folder, { recursive: true })
  return { isAccepted: status === 0, said }
}

/** Replaces a text in a file, in which it has to be. */
function replace(path: string, text: string, other: string) {
  const before = readFileSync(path, "utf8")
  expect(before).toContain(text)
  writeFileSync(path, before.replace(text, other))
}

describe("the alerts", () => {
  itWithPromtool(`are what Prometheus accepts${skipped}`, async () => {
    const check = ["check", "rules", "alerts.yml"]
    expect(await promtool(check)).toEqual({ isAccepted: true, said: expect.stringContaining(`${alerts.length} rules found`) })
    const misspelt = await promtool(check, (folder) => replace(join(folder, "alerts.yml"), "max by (kind)", "maximum by (kind)"))
    expect(misspelt).toEqual({ isAccepted: false, said: expect.stringContaining("PlatformWorkLate") })
  })

  itWithPromtool(`fire for the series that they are about, and for no others${skipped}`, async () => {
    const test = ["test", "rules", "alerts.test.yml"]
    expect(await promtool(test)).toMatchObject({ isAccepted: true })
    const late = await promtool(test, (folder) => replace(join(folder, "alerts.yml"), "for: 2m", "for: 3m"))
    expect(late).toEqual({ isAccepted: false, said: expect.stringContaining("PlatformInstanceDown") })
  })

  it("have each a test in which they fire, and one in which they do not", () => {
    const tests: UnitTest[] = yamlOf("deploy/prometheus/alerts.test.yml").tests
    const covered = alerts.map(({ alert }) => {
      const about = tests.filter(({ name }) => name.startsWith(`${alert} `)).map((each) => each.promql_expr_test)
      for (const { expr } of about.flat()) expect(expr).toContain(`alertname="${alert}"`)
      const fires = about.filter((each) => each.some(({ exp_samples: samples }) => samples.length > 0)).length
      return { alert, fires: fires > 0, isQuiet: about.length > fires }
    })
    expect(covered).toEqual(alerts.map(({ alert }) => ({ alert, fires: true, isQuiet: true })))
  })

  it("say what is wrong and what to do first, and name a section of docs/operations.md that exists", () => {
    const sections = headings(operations)
    for (const { alert, labels, annotations } of alerts) {
      const [page, section] = annotations.runbook.split("#")
      expect({ alert, ...labels, ...annotations, page, hasSection: sections.has(section!) }).toEqual({
        alert,
        severity: expect.stringMatching(/critical|warning/),
        summary: expect.stringMatching(/^.{20,}/),
        description: expect.stringMatching(/\. First: /),
        runbook: annotations.runbook,
        page: "docs/operations.md",
        hasSection: true,
      })
    }
  })

  it("are in the table of docs/operations.md, in their order", () => {
    expect([...operations.matchAll(/^\| `(Platform\w+)` \|/gm)].map(([, name]) => name)).toEqual(alerts.map(({ alert }) => alert))
  })
})

describe("the queries of the alerts and the dashboard", () => {
  /** The metrics of a running server and of Prometheus itself with their labels, and what Prometheus adds to each. */
  async function known() {
    const { registry } = w.services.metrics as unknown as { registry: Registry }
    const labels = new Map(
      registry.getMetricsAsArray().map((metric) => {
        const { name, labelNames } = metric as unknown as Metric & { name: string; labelNames: string[] }
        return [name, new Set(labelNames)]
      }),
    )
    const text = await (await fetch(`${w.url}/metrics`)).text()
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
    const baseOf = (metric: string) => {
      const base = metric.replace(/_(bucket|sum|count)$/, "")
      return types.get(base) === "histogram" ? base : metric
    }
    return {
      isThere: (metric: string) => metric === "up" || types.has(baseOf(metric)),
      has: (metric: string, label: string) =>
        ["job", "instance"].includes(label) || (label === "le" && metric.endsWith("_bucket")) || !!labels.get(baseOf(metric))?.has(label),
    }
  }

  it("select metrics that a server has, by labels that they have", async () => {
    const { isThere, has } = await known()
    const faults = queries.flatMap(([where, query]) => {
      const selectors = selectorsOf(query)
      expect({ where, selectors: selectors.length }).not.toEqual({ where, selectors: 0 })
      return [
        ...selectors.filter(({ metric }) => !isThere(metric)).map(({ metric }) => `${where}: there is no metric ${metric}`),
        ...selectors.flatMap(({ metric, matchers }) =>
          matchers.filter(({ label }) => !has(metric, label)).map(({ label }) => `${where}: ${metric} has no label ${label}`),
        ),
        ...groupingsOf(query)
          .filter((label) => !selectors.some(({ metric }) => has(metric, label)))
          .map((label) => `${where}: no metric has the label ${label}`),
      ]
    })
    expect(faults).toEqual([])
  })

  it("compare labels with values that the server gives them", () => {
    const code = sourcesBelow("src", /\.ts$/)
      .map(({ text }) => text)
      .join("\n")
    const values = queries.flatMap(([where, query]) =>
      selectorsOf(query)
        .flatMap(({ matchers }) => matchers)
        .filter(({ label }) => !["job", "instance", "route", "status"].includes(label))
        .flatMap(({ label, value }) => value.split("|").map((each) => ({ where, label, value: each }))),
    )
    expect(values.length).toBeGreaterThan(20)
    expect(values.filter(({ value }) => !code.includes(`"${value}"`))).toEqual([])
  })

  it.each([
    ['sum by (a) (rate(one{b="c|d", e!~"f.*"}[5m])) / max(two offset 1h) > 0.5', ["one b=c|d e!~f.*", "two"]],
    ['absent(three{a="max"}) or (four{} and vector(0)) > 1', ["three a=max", "four"]],
    ["maximum(five)", ["maximum", "five"]],
  ])("are read: %s", (query, expected) => {
    const read = selectorsOf(query).map(({ metric, matchers }) =>
      [metric, ...matchers.map(({ label, operator, value }) => `${label}${operator}${value}`)].join(" "),
    )
    expect(read).toEqual(expected)
  })
})

describe("the configuration of Prometheus", () => {
  const [{ job_name: job, static_configs: targets, authorization }] = prometheus.scrape_configs

  itWithPromtool(`is what Prometheus accepts, with the rules that it loads${skipped}`, async () => {
    const check = ["check", "config", "prometheus.yml"]
    const withToken = (folder: string) => {
      writeFileSync(join(folder, "token"), "a token")
      replace(join(folder, "prometheus.yml"), authorization.credentials_file, "token")
    }
    expect(await promtool(check, withToken)).toEqual({ isAccepted: true, said: expect.stringContaining(`${alerts.length} rules found`) })
    expect(await promtool(check)).toEqual({ isAccepted: false, said: expect.stringContaining(authorization.credentials_file) })
  })

  it("scrapes two instances by the name of the job that alerts select", () => {
    expect(targets.flatMap((each: { targets: string[] }) => each.targets)).toHaveLength(2)
    const jobs = queries.flatMap(([, query]) =>
      selectorsOf(query).flatMap(({ matchers }) => matchers.filter(({ label }) => label === "job")),
    )
    expect([...new Set(jobs.map(({ value }) => value))]).toEqual([job])
  })
})

describe("the dashboard", () => {
  it("has sixteen panels at most, each with a title, an explanation and a unit", () => {
    const shown = panels.filter(({ targets }) => targets) as unknown as {
      title: string
      description: string
      fieldConfig: { defaults: { unit: string } }
      datasource: { uid: string }
    }[]
    expect(shown.length).toBeLessThanOrEqual(16)
    for (const { title, description, fieldConfig, datasource } of shown)
      expect({ title, description, unit: fieldConfig.defaults.unit, from: datasource.uid }).toEqual({
        title: expect.stringMatching(/^[A-Z]/),
        description: expect.stringMatching(/^.{40,}\.$/),
        unit: expect.stringMatching(/^\w+$/),
        from: "$" + "{datasource}",
      })
  })

  it("shows the instances that are chosen: each query is limited to them", () => {
    const dashboard = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    const unlimited = dashboard.filter((query) =>
      selectorsOf(query).some(({ matchers }) => !matchers.some(({ label, value }) => label === "instance" && value === "$instance")),
    )
    expect(unlimited).toEqual([])
  })
})
