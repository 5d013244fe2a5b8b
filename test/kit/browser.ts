import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { WebSocket } from "ws"
import { happens, showInWaits, until } from "./wait.js"

// biome-ignore lint/suspicious/noExplicitAny: answers of the DevTools protocol, each with its own shape.
type Answer = any

/** The headless shell first: it is Chromium without windows and their own pages, and takes half of the CPU. */
const names = ["chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

/** Path of an installed Chromium; null where there is none. CHROMIUM names another one. */
export const chromium: string | null =
  [
    process.env["CHROMIUM"],
    ...(process.env["PATH"] ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name))),
  ].find((path) => path && existsSync(path)) ?? null

/** A headless Chromium, which is driven over its DevTools protocol. */
export interface Browser {
  /** Opens a page and waits until it is loaded. Pages of one profile share their storage. */
  open(url: string, options?: PageOptions): Promise<Page>
  /** A profile without storage of others. */
  profile(): Promise<string>
  close(): Promise<void>
}

export interface PageOptions {
  profile?: string
  width?: number
  height?: number
  /** Media features, such as `prefers-color-scheme: dark`. */
  media?: Record<string, string>
  /** A script that runs before those of the page. */
  before?: string
}

/** A script for `before`: frames of sockets that contain a text wait in `held` until `release()`. */
export const heldFrames = (text: string) => `{
  const { send } = WebSocket.prototype
  let isHolding = true
  window.held = []
  window.release = () => {
    isHolding = false
    for (const [socket, data] of window.held) send.call(socket, data)
  }
  WebSocket.prototype.send = function (data) {
    if (isHolding && data.includes(${JSON.stringify(text)})) window.held.push([this, data])
    else send.call(this, data)
  }
}`

/** A page. Elements are found by role and accessible name, as screen readers find them, also in shadow trees. */
export interface Page {
  /** Waits for an element; returns a handle for the functions below. */
  find(role: string, name?: string): Promise<Element>
  /** Number of elements that screen readers find. */
  count(role: string, name?: string): Promise<number>
  /** Texts of all elements of a role, in order. */
  texts(role: string): Promise<string[]>
  /** Runs an expression in the page. */
  run(expression: string): Promise<Answer>
  /** Types text into the focused element. */
  type(text: string): Promise<void>
  /** Presses a key, such as Enter or a. */
  press(key: string, modifiers?: { shift?: boolean; ctrl?: boolean }): Promise<void>
  /** What the page logged as an error, violations of its policy too. */
  problems: string[]
  /** Addresses that the page requested. */
  requested: string[]
  /** What the page sent and received over WebSockets. */
  sent: string[]
  received: string[]
  /** Sets media features, such as `prefers-color-scheme`. */
  media(features: Record<string, string>): Promise<void>
  screenshot(): Promise<Buffer>
  reload(): Promise<void>
  close(): Promise<void>
}

export interface Element {
  click(): Promise<void>
  /** Calls a function in the page, with the element as `this`. */
  call(source: string): Promise<Answer>
}

/** Starts a browser; it ends with the tests of the file. */
export async function startBrowser(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), "browser-"))
  const flags = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
  ]
  const quiet = ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--lang=en-US", "--remote-debugging-port=0"]
  const child = spawn(chromium!, [...flags, ...quiet, `--user-data-dir=${folder}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] })
  let printed = ""
  child.stderr.on("data", (text) => (printed += text))
  const address = await until("Chromium listens", () => {
    if (child.exitCode !== null) throw new Error(`Chromium did not start: ${printed}`)
    return /DevTools listening on (ws:\S+)/.exec(printed)?.[1]
  })
  const client = await devTools(address)
  return {
    open: (url, options = {}) => openPage(client, url, options),
    profile: async () => (await client.send("Target.createBrowserContext")).browserContextId,
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit")
        // Not by a signal: what is installed may be a shell script, which would leave the browser behind.
        void client.send("Browser.close")
        await happens("Chromium has ended", ended)
      }
      client.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

type Client = Awaited<ReturnType<typeof devTools>>

/** A connection to the browser; sessions share it. */
async function devTools(address: string) {
  const socket = new WebSocket(address)
  await happens("Chromium accepts a connection", once(socket, "open"))
  const waiting = new Map<number, { method: string; resolve(answer: Answer): void; reject(error: Error): void }>()
  const listeners = new Set<(message: Answer) => void>()
  const hidden: (() => void)[] = []
  let sent = 0
  socket.on("message", (data) => {
    const message = JSON.parse(String(data))
    const call = waiting.get(message.id)
    waiting.delete(message.id)
    if (!call) for (const listener of listeners) listener(message)
    else if (message.error) call.reject(new Error(`${call.method}: ${message.error.message}`))
    else call.resolve(message.result)
  })
  return {
    send: (method: string, params: object = {}, sessionId?: string): Promise<Answer> =>
      new Promise((resolve, reject) => {
        sent += 1
        waiting.set(sent, { method, resolve, reject })
        socket.send(JSON.stringify({ id: sent, method, params, ...(sessionId && { sessionId }) }))
      }),
    /** Shows a page in every wait that gives up, until the browser is closed. */
    show: (name: string, look: () => Promise<unknown>) => void hidden.push(showInWaits(name, look)),
    listen: (listener: (message: Answer) => void) => void listeners.add(listener),
    close() {
      for (const hide of hidden) hide()
      socket.terminate()
    },
  }
}

/**
 * In the page: answers where to click at an element, and keeps the click from any other one. What loads above it may move it before the click
 * arrives, and the click would go to what is there then.
 */
const aimed = `function () {
  const types = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]
  let missed = false
  const guard = (event) => {
    if (event.composedPath().includes(this)) return
    missed = true
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  for (const type of types) addEventListener(type, guard, true)
  globalThis.hasMissed = () => {
    for (const type of types) removeEventListener(type, guard, true)
    return missed && this.isConnected
  }
  this.scrollIntoView({ block: "nearest" })
  const { x, y, width, height } = this.getBoundingClientRect()
  return { x: x + width / 2, y: y + height / 2 }
}`

/** In the page: ends the guard of the last click, and answers whether the click missed its element, which is still there. */
const hasMissed = "function () { return globalThis.hasMissed?.() ?? false }"

async function openPage(client: Client, url: string, options: PageOptions): Promise<Page> {
  const { profile, width = 1000, height = 700, media = {}, before } = options
  const { targetId } = await client.send("Target.createTarget", { url: "about:blank", ...(profile && { browserContextId: profile }) })
  const { sessionId } = await client.send("Target.attachToTarget", { targetId, flatten: true })
  const send = (method: string, params?: object) => client.send(method, params, sessionId)
  const problems: string[] = []
  const requested: string[] = []
  const sent: string[] = []
  const received: string[] = []
  let loads = 0
  client.listen(({ sessionId: of, method, params }) => {
    if (of !== sessionId) return
    if (method === "Page.loadEventFired") loads += 1
    if (method === "Network.requestWillBeSent") requested.push(params.request.url)
    if (method === "Network.webSocketFrameSent") sent.push(params.response.payloadData)
    if (method === "Network.webSocketFrameReceived") received.push(params.response.payloadData)
    if (method === "Network.webSocketCreated") requested.push(params.url)
    if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text)
    if (method === "Log.entryAdded" && params.entry.level === "error" && params.entry.source !== "network") problems.push(params.entry.text)
  })
  await Promise.all(["Page", "Runtime", "Log", "Network", "DOM", "Accessibility"].map((domain) => send(`${domain}.enable`)))
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false })
  await send("Emulation.setFocusEmulationEnabled", { enabled: true })
  const setMedia = (features: Record<string, string>) =>
    send("Emulation.setEmulatedMedia", { features: Object.entries(features).map(([name, value]) => ({ name, value })) })
  await setMedia(media)
  const text = 'location.href + "\\n" + document.body?.innerText.slice(0, 2000)'
  const shown = async () => ({ text: (await send("Runtime.evaluate", { expression: text })).result.value, problems })
  client.show(`page ${targetId}`, shown)
  if (before) await send("Page.addScriptToEvaluateOnNewDocument", { source: before })
  const loaded = async (go: () => Promise<unknown>) => {
    const earlier = loads
    await go()
    await until("the page is loaded", () => loads > earlier)
  }
  await loaded(() => send("Page.navigate", { url }))

  /** Nodes of the accessibility tree that are not hidden, in their order. */
  async function nodes(role: string, name?: string): Promise<Answer[]> {
    const { root } = await send("DOM.getDocument", { depth: 0 })
    const query = { nodeId: root.nodeId, role, ...(name !== undefined && { accessibleName: name }) }
    // The document is another one after a reload.
    const { nodes: found } = await send("Accessibility.queryAXTree", query).catch(() => ({ nodes: [] }))
    return found.filter(({ ignored }: Answer) => !ignored)
  }
  const handle = async ({ backendDOMNodeId }: Answer): Promise<Element> => {
    const { object } = await send("DOM.resolveNode", { backendNodeId: backendDOMNodeId })
    const call = async (functionDeclaration: string) => {
      const params = { objectId: object.objectId, functionDeclaration, returnByValue: true, awaitPromise: true }
      return (await send("Runtime.callFunctionOn", params)).result.value
    }
    const click = async () => {
      do {
        const { x, y } = await call(aimed)
        for (const type of ["mousePressed", "mouseReleased"])
          await send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 })
        // The handle is gone with the page, when the click led to another one.
      } while (await call(hasMissed).catch(() => false))
    }
    return { call, click }
  }
  return {
    problems,
    requested,
    sent,
    received,
    async find(role, name) {
      const named = name === undefined ? role : `${role} "${name}"`
      return handle(await until(`the page has the ${named}`, async () => (await nodes(role, name))[0]))
    },
    count: async (role, name) => (await nodes(role, name)).length,
    texts: async (role) =>
      Promise.all((await nodes(role)).map(async (node) => (await handle(node)).call("function () { return this.innerText }"))),
    async run(expression) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true })
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value
    },
    type: (text) => send("Input.insertText", { text }),
    async press(key, { shift = false, ctrl = false } = {}) {
      const code = { Enter: 13, Escape: 27, Tab: 9, ArrowUp: 38, ArrowDown: 40 }[key]
      const text = key === "Enter" ? "\r" : key.length === 1 && !ctrl ? key : undefined
      const params = { key, code: key, windowsVirtualKeyCode: code, modifiers: (shift ? 8 : 0) + (ctrl ? 2 : 0), ...(text && { text }) }
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...params })
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...params })
    },
    media: setMedia,
    screenshot: async () => Buffer.from((await send("Page.captureScreenshot")).data, "base64"),
    reload: () => loaded(() => send("Page.reload")),
    close: () => client.send("Target.closeTarget", { targetId }),
  }
}
