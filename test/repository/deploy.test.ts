import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse, parseAllDocuments } from "yaml"
import { startArguments, startEnvironment } from "../../scripts/start-arguments.js"
import { execute } from "../../src/admin/command-line.js"
import { readConfig } from "../../src/config/config.js"
import { world } from "../kit/world.js"

const w = world()
const unit = readFileSync("deploy/assistant-platform.service", "utf8")
const objects = parseAllDocuments(readFileSync("deploy/kubernetes.yaml", "utf8")).map((document) => document.toJS())
const of = (kind: string) => objects.find((each) => each.kind === kind)
const compose = parse(readFileSync("docker-compose.yml", "utf8"), { merge: true })
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0

const settingsOfStart = Object.entries(startEnvironment("."))
  .map(([name, value]) => `${name}=${value}`)
  .join(" ")

describe("the unit of systemd", () => {
  it("starts the server as `npm start` does", () => {
    expect(/^ExecStart=\S+\/node (.+)$/m.exec(unit)![1]!.split(" ")).toEqual(startArguments("."))
    expect(/^Environment=(MALLOC.+)$/m.exec(unit)![1]).toBe(settingsOfStart)
  })

  const itOnSystemd = hasSystemd ? it : it.skip
  itOnSystemd(`is what systemd accepts${hasSystemd ? "" : " (skipped: there is no systemd-analyze on this machine)"}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "unit-"))
    const path = join(folder, "assistant-platform.service")
    // The program is not installed here.
    writeFileSync(path, unit.replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"))
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" })
    rmSync(folder, { recursive: true })
    expect(stderr).not.toContain("assistant-platform.service")
    expect(status).toBe(0)
  })
})

const hasValidator = spawnSync("kubernetes-validate", ["--version"]).status === 0

it("the image starts the server as `npm start` does", () => {
  const dockerfile = readFileSync("Dockerfile", "utf8")
  expect(JSON.parse(/^CMD (\[.+\])$/m.exec(dockerfile)![1]!)).toEqual(["node", ...startArguments(".")])
  expect(/^ENV (MALLOC.+)$/m.exec(dockerfile)![1]).toBe(settingsOfStart)
})

describe("the manifest of Kubernetes", () => {
  const itWithValidator = hasValidator ? it : it.skip
  itWithValidator(
    `fits the schemas of Kubernetes${hasValidator ? "" : " (skipped: there is no kubernetes-validate on this machine)"}`,
    () => {
      const validate = (text: string) => {
        const folder = mkdtempSync(join(tmpdir(), "manifest-"))
        const path = join(folder, "kubernetes.yaml")
        writeFileSync(path, text)
        const { status, stdout, stderr } = spawnSync("kubernetes-validate", ["--strict", path], { encoding: "utf8" })
        rmSync(folder, { recursive: true })
        return { status, said: `${stdout}${stderr}` }
      }
      const text = readFileSync("deploy/kubernetes.yaml", "utf8")
      expect(validate(text)).toMatchObject({ status: 0 })
      const misspelt = validate(text.replace("automountServiceAccountToken", "automountServiceToken"))
      expect(misspelt).toEqual({ status: 1, said: expect.stringContaining("automountServiceToken") })
    },
  )

  it("runs two instances of the image, with probes that the server answers, and never stops the last one", async () => {
    const { spec } = of("Deployment")
    const [api] = spec.template.spec.containers
    expect([spec.replicas, spec.strategy.rollingUpdate.maxUnavailable, of("PodDisruptionBudget").spec.minAvailable]).toEqual([2, 0, 1])
    expect(api.image).toBe(compose.services.api.image)
    expect(api.resources.limits.memory).toBe("2560Mi")
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
      expect((await fetch(`${w.url}${api[probe].httpGet.path}`)).status).toBe(200)
    for (const { spec } of [of("Deployment"), of("Job")]) {
      expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true })
      for (const { securityContext } of spec.template.spec.containers)
        expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
    }
  })

  it("selects the instances that it starts, and sets only variables that the server knows", () => {
    const { app } = of("Deployment").spec.template.metadata.labels
    for (const kind of ["Service", "PodDisruptionBudget"]) {
      const { selector } = of(kind).spec
      expect(selector.matchLabels ?? selector).toEqual({ app })
    }
    const known = readFileSync(".env.example", "utf8")
    for (const name of Object.keys(of("ConfigMap").data)) expect(known).toMatch(new RegExp(`^#?${name}=`, "m"))
    expect(() => readConfig({ ...of("ConfigMap").data, S3_ACCESS_KEY_ID: "a", S3_SECRET_ACCESS_KEY: "b" })).not.toThrow()
  })

  it("migrates with a command that prints what was migrated", async () => {
    const [, , command] = of("Job").spec.template.spec.containers[0].command
    const { stdout, code } = await execute([command, "--json"], {
      DATABASE_URL: w.databaseUrl,
      JWT_SECRET: "x".repeat(40),
      ENCRYPTION_KEY: "00".repeat(32),
    })
    expect(code).toBe(0)
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
    expect(names.length).toBeGreaterThan(0)
    expect(names).toEqual((await w.sql("select name from mikro_orm_migrations order by id")).map(({ name }) => name))
  })
})
