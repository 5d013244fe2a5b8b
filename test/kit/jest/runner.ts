import { createRequire } from "node:module"
import { relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { clock } from "../../../src/entities/kit/clock.js"
import { delayArrivals } from "../jitter.js"

const require = createRequire(import.meta.url)
const { default: circus } = require("jest-circus/runner")

/** What jest-circus keeps in the global object. */
const kept = /JEST_STATE_SYMBOL|EVENT_HANDLERS|TEST_TIMEOUT_SYMBOL/

/**
 * Runs a file with jest-circus as Jest does, but loads its build with Node's own loader instead of Jest's: the server and all libraries are
 * then loaded once in a worker instead of once for each of its files.
 */
export default function run(globalConfig: unknown, config: unknown, environment: unknown, runtime: Runtime, path: string, send: unknown) {
  runtime.requireInternalModule = freshly
  runtime.unstable_shouldLoadAsEsm = () => true
  runtime.unstable_importModule = (file) => import(builtOf(file))
  clock.reset()
  // Jest's limit is 100. Each assertion on a request takes a stack, whose frames are translated.
  Error.stackTraceLimit = 20
  Object.assign(globalThis, { jest: runtime.requireModuleOrMock(path, "@jest/globals").jest })
  return circus(globalConfig, config, environment, runtime, path, send)
}

const builtOf = (file: string) => pathToFileURL(resolve("dist", relative("", file).replace(/\.ts$/, ".js"))).href

/** Loads a part of jest-circus again, so that a file does not start with the state of the previous one. */
function freshly(file: string) {
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (kept.test(symbol.description ?? "")) Reflect.deleteProperty(globalThis, symbol)
  delete require.cache[file]
  return require(file)
}

// Jest ends a worker by no longer listening to it. Timers of libraries shall not keep it: Agenda leaves one of 5 s for each job that it ran.
process.on("removeListener", (event) => {
  if (event === "message" && process.listenerCount("message") === 0) process.exit()
})

const { TEST_JITTER: seed } = process.env
if (seed) delayArrivals(Number(seed))

/** The parts of jest-runtime that are used or replaced here. */
interface Runtime {
  requireInternalModule(file: string): unknown
  unstable_shouldLoadAsEsm(file: string): boolean
  unstable_importModule(file: string): Promise<unknown>
  requireModuleOrMock(from: string, name: string): { jest: typeof jest }
}
