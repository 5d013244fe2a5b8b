import { execFileSync } from "node:child_process"
import { getEventListeners } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer } from "node:https"
import type { AddressInfo, LookupFunction } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GuardedHttpClient, GuardedRequestError, type GuardedRequestOptions, isPublic } from "../../src/ports/kit/guarded-http-client.js"
import { type Receiver, receiver } from "../kit/receiver.js"

let endpoint: Receiver
beforeEach(async () => {
  endpoint = await receiver()
})
afterEach(() => endpoint.close())

const opened: GuardedHttpClient[] = []
const open = (...options: ConstructorParameters<typeof GuardedHttpClient>) => {
  const client = new GuardedHttpClient(...options)
  opened.push(client)
  return client
}
afterAll(async () => {
  for (const client of opened) await client.close()
})

const requestOptions = (more: Partial<GuardedRequestOptions> = {}): GuardedRequestOptions => ({
  method: "GET",
  timeoutMs: 10_000,
  maxBytes: 1_000,
  ...more,
})
const refused = {
  name: new GuardedRequestError("", "refused").name,
  reason: "refused",
  message: "The address is not on the public internet",
}

/** A public IPv6 prefix without any host. */
const publicButNobody = "3ffe::1"

/** A look-up that returns the next of these lists each time, and records the names. */
function lookUp(...answers: string[][]) {
  const asked: string[] = []
  const look = ((hostname, options, done) => {
    const found = (answers[asked.length] ?? answers.at(-1)!).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    asked.push(hostname)
    setImmediate(() => (options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family)))
  }) as LookupFunction
  return { asked, look }
}

it("a request that has ended leaves nothing with the signal that could have stopped it", async () => {
  const { signal } = new AbortController()
  await open(true).request(endpoint.url, requestOptions({ signal }))
  await expect(open(false).request(endpoint.url, requestOptions({ signal }))).rejects.toMatchObject(refused)
  expect(getEventListeners(signal, "abort")).toEqual([])
})

describe("an address", () => {
  it.each([
    ["loopback", ["127.0.0.1", "127.255.255.254", "::1"]],
    ["private", ["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"]],
    ["link-local", ["169.254.0.1", "169.254.255.254", "fe80::1", "febf::1", "fe80::1%eth0"]],
    ["of a metadata service", ["169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "192.0.0.192"]],
    ["unique to a site", ["fc00::1", "fd12:3456::1", "fdff:ffff::1", "fec0::1"]],
    ["of a carrier's own net", ["100.64.0.1", "100.127.255.255"]],
    ["no address at all", ["0.0.0.0", "0.1.2.3", "::"]],
    ["IPv4 dressed as IPv6", ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::127.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1"]],
    ["IPv4 behind a translator or a tunnel", ["64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:7f00:1::"]],
    [
      "for documents, tests and the future",
      ["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "240.0.0.1", "2001:db8::1", "100::1"],
    ],
    ["of many", ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"]],
    ["no address", ["", "localhost", "1.2.3.4.5", "256.0.0.1", "nonsense"]],
  ])("that is %s is not public", (_what, addresses) => {
    expect(addresses.filter(isPublic)).toEqual([])
  })

  it("of the internet is public, IPv4 also when mapped to IPv6", () => {
    const addresses = ["1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "::ffff:8.8.8.8", "2606:4700::1111", publicButNobody]
    expect(addresses.filter((address) => !isPublic(address))).toEqual([])
  })
})

describe("the guard", () => {
  const guarded = (...answers: string[][]) => {
    const { asked, look } = lookUp(...answers)
    return { asked, client: open(false, look) }
  }
  const port = () => new URL(endpoint.url).port

  it.each([
    ["loopback", "127.0.0.1"],
    ["loopback, short", "127.1"],
    ["loopback, as one number", "2130706433"],
    ["loopback, hexadecimal", "0x7f000001"],
    ["loopback, hexadecimal in parts", "0x7f.0.0.0x1"],
    ["loopback, octal", "0177.0.0.01"],
    ["loopback, in wide letters", "①②⑦.⓪.⓪.①"],
    ["nothing", "0.0.0.0"],
    ["nothing, short", "0"],
    ["metadata", "169.254.169.254"],
    ["metadata, as one number", "2852039166"],
    ["private", "10.0.0.1"],
    ["IPv6 loopback", "[::1]"],
    ["IPv6 nothing", "[::]"],
    ["mapped", "[::ffff:127.0.0.1]"],
    ["mapped, in hexadecimal", "[::ffff:7f00:1]"],
    ["compatible", "[::127.0.0.1]"],
    ["translated", "[64:ff9b::127.0.0.1]"],
    ["unique to a site", "[fd00::1]"],
    ["link-local", "[fe80::1]"],
  ])("refuses %s (%s)", async (_what, host) => {
    const { asked, client } = guarded([publicButNobody])
    for (const scheme of ["http", "https"])
      await expect(client.request(`${scheme}://${host}:${port()}/`, requestOptions())).rejects.toMatchObject(refused)
    expect(asked).toEqual([])
    expect(endpoint.connections).toBe(0)
  })

  it("refuses names of this machine, by the system's look-up", async () => {
    const client = open(false)
    for (const name of ["localhost", "LOCALHOST", "localhost."])
      await expect(client.request(`http://${name}:${port()}/`, requestOptions())).rejects.toMatchObject({ name: refused.name })
    await expect(client.request(`http://localhost:${port()}/`, requestOptions())).rejects.toMatchObject(refused)
    expect(endpoint.connections).toBe(0)
  })

  it.each([
    ["its only one", ["127.0.0.1"]],
    ["the first", ["10.0.0.1", "8.8.8.8"]],
    ["the last", [publicButNobody, "8.8.8.8", "::ffff:127.0.0.1"]],
    ["none, since there is none", []],
  ])("refuses a name of whose addresses one is private: %s", async (_which, addresses) => {
    const { client } = guarded(addresses)
    await expect(client.request(`http://shop.example:${port()}/`, requestOptions())).rejects.toMatchObject(refused)
    expect(endpoint.connections).toBe(0)
  })

  it("allows a public address", async () => {
    const { asked, client } = guarded([publicButNobody])
    const failure = await client.request(`http://shop.example:${port()}/`, requestOptions({ timeoutMs: 300 })).catch((error) => error)
    expect(["unreachable", "timeout"]).toContain(failure.reason)
    expect(asked).toEqual(["shop.example"])
  })

  it("checks the address that it connects to, also when a name resolves differently the second time", async () => {
    const { asked, client } = guarded([publicButNobody], ["127.0.0.1"])
    const url = `http://rebind.example:${port()}/`
    // It connects to the checked address, without another look-up.
    const first = await client.request(url, requestOptions({ timeoutMs: 300 })).catch((error) => error)
    expect(["unreachable", "timeout"]).toContain(first.reason)
    expect(asked).toHaveLength(1)
    // The result is not cached: the next request is checked again.
    await expect(client.request(url, requestOptions())).rejects.toMatchObject(refused)
    expect(asked).toHaveLength(2)
    expect(endpoint.connections).toBe(0)
  })

  it("allows everything where private addresses are allowed, by the same look-up", async () => {
    const { asked, look } = lookUp(["127.0.0.1"])
    const answer = await open(true, look).request(`http://shop.example:${port()}/`, requestOptions())
    expect(answer).toMatchObject({ status: 200, cut: false })
    expect(asked).toEqual(["shop.example"])
  })
})

describe("a request", () => {
  const client = open(true)

  it("is sent with its options, and any response is read", async () => {
    endpoint.answer({ status: 418, json: { short: "stout" } })
    const asked = requestOptions({ method: "PUT", headers: { "X-Kind": "teapot" }, body: "bytes ü" })
    const answer = await client.request(`${endpoint.url}/a?b=c`, asked)
    expect(answer).toMatchObject({ status: 418, cut: false, headers: { "content-type": "application/json" } })
    expect(answer.body.toString()).toBe('{"short":"stout"}')
    expect(endpoint.requests).toMatchObject([{ method: "PUT", url: "/a?b=c", body: Buffer.from("bytes ü") }])
    expect(endpoint.requests[0]!.rawHeaders).toContain("X-Kind")
  })

  it("has its own connection, one after the other and concurrently", async () => {
    for (let count = 0; count < 3; count++) await client.request(endpoint.url, requestOptions())
    await Promise.all(Array.from({ length: 5 }, () => client.request(endpoint.url, requestOptions())))
    expect(endpoint.requests).toHaveLength(8)
    expect(endpoint.connections).toBe(8)
  })

  it("is not sent elsewhere: a redirect is a response", async () => {
    endpoint.answer("redirect")
    expect(await client.request(endpoint.url, requestOptions())).toMatchObject({ status: 302, headers: { location: "/elsewhere" } })
    expect(endpoint.requests.map(({ url }) => url)).toEqual(["/"])
  })

  it.each(["hang", "drip"] as const)("ends at its timeout when the server does this: %s", async (mode) => {
    endpoint.answer(mode)
    await expect(client.request(endpoint.url, requestOptions({ timeoutMs: 300 }))).rejects.toMatchObject({
      reason: "timeout",
      message: "The address did not answer within 0.3 s",
    })
    expect(endpoint.requests).toHaveLength(1)
  })

  it("ends at its timeout, and when it is aborted, also during the look-up", async () => {
    const lost = open(false, (() => {}) as LookupFunction)
    await expect(lost.request("http://shop.example/", requestOptions({ timeoutMs: 300 }))).rejects.toMatchObject({ reason: "timeout" })
    const stop = new AbortController()
    const asked = lost.request("http://shop.example/", requestOptions({ signal: stop.signal }))
    stop.abort()
    await expect(asked).rejects.toMatchObject({ reason: "aborted" })
  })

  it("that was aborted while it was connecting is not sent when the connection opens", async () => {
    const late: (() => void)[] = []
    const look = ((_hostname, _options, done) => {
      late.push(() => done(null, [{ address: "127.0.0.1", family: 4 }]))
    }) as LookupFunction
    const { port } = new URL(endpoint.url)
    await expect(open(true, look).request(`http://shop.example:${port}/`, requestOptions({ timeoutMs: 100 }))).rejects.toMatchObject({
      reason: "timeout",
    })
    for (const tell of late) tell()
    await client.request(endpoint.url, requestOptions())
    expect(endpoint.requests).toHaveLength(1)
  })

  it("reads no more than its limit", async () => {
    endpoint.answer("large")
    const { body, cut } = await client.request(endpoint.url, requestOptions({ maxBytes: 10 }))
    expect([body.toString(), cut]).toEqual(['{"text":"x', true])
    endpoint.answer({ json: 1234 })
    expect(await client.request(endpoint.url, requestOptions({ maxBytes: 4 }))).toMatchObject({ body: Buffer.from("1234"), cut: false })
    expect(await client.request(endpoint.url, requestOptions({ maxBytes: 3 }))).toMatchObject({ body: Buffer.from("123"), cut: true })
  })

  it("is aborted by its signal, also before it begins", async () => {
    endpoint.answer("hang")
    const stop = new AbortController()
    const asked = client.request(endpoint.url, requestOptions({ signal: stop.signal }))
    await endpoint.arrived(1)
    stop.abort()
    await expect(asked).rejects.toMatchObject({ reason: "aborted", message: "The request was stopped" })
    await expect(client.request(endpoint.url, requestOptions({ signal: stop.signal }))).rejects.toMatchObject({ reason: "aborted" })
    expect(endpoint.requests).toHaveLength(1)
  })

  it.each([
    ["http://127.0.0.1:9/", "The address refused the connection"],
    ["http://nobody.invalid/", "The host of the address was not found"],
    ["ftp://shop.example/", "No usable answer came from the address"],
    ["nonsense", "No usable answer came from the address"],
  ])("that reaches nobody says why: %s", async (url, message) => {
    await expect(client.request(url, requestOptions())).rejects.toMatchObject({ name: refused.name, reason: "unreachable", message })
  })

  it("is not sent again when its connection is cut", async () => {
    endpoint.answer("reset")
    for (const method of ["GET", "POST"])
      await expect(client.request(endpoint.url, requestOptions({ method }))).rejects.toMatchObject({
        reason: "unreachable",
        message: "The connection was closed before an answer came",
      })
    expect(endpoint.requests).toHaveLength(2)
    expect(endpoint.connections).toBe(2)
  })

  it("refuses a server with a self-signed certificate", async () => {
    const folder = await mkdtemp(join(tmpdir(), "certificate-"))
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
    const made = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-subj",
      "/CN=localhost",
      "-keyout",
      key,
      "-out",
      cert,
    ]
    execFileSync("openssl", ["req", "-x509", ...made], { stdio: "ignore" })
    let requests = 0
    const server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (_request, response) => {
      requests += 1
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`
    await expect(client.request(url, requestOptions())).rejects.toMatchObject({
      reason: "unreachable",
      message: "The address has no valid certificate",
    })
    expect(requests).toBe(0)
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })
})
