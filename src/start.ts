import { prepareDemo } from "./admin/demo.js"
import { welcome } from "./admin/welcome.js"
import { ConfigError, publicUrl, readConfig } from "./config/config.js"
import { loadEnvironmentFile } from "./config/env-file.js"
import { misspelt } from "./config/misspelt.js"
import { openEmbedded } from "./database/embedded/open.js"
import { makeLog } from "./observability/log.js"
import { startServer } from "./server.js"

/** Starts the server, prints its addresses, and stops it on SIGTERM, SIGINT and SIGHUP. */
async function start() {
  loadEnvironmentFile()
  const config = readConfig(process.env)
  const log = makeLog(config)
  for (const line of misspelt(process.env)) log.warn(line)
  // Nobody reads it any more, as after `npm start | head`; without a listener the error would end the process.
  process.stdout.on("error", (error) => log.debug({ err: error }, "standard output cannot be written"))
  const say = (line: string) => process.stdout.write(`${line}\n`)
  const embedded = config.databaseUrl ? null : await openEmbedded({ dataDir: config.dataDir, role: "server", log: say })
  const server = await startServer(config, config.databaseUrl ?? embedded!.url, log).catch(async (error) => {
    await embedded?.stop()
    throw error
  })
  const demo = config.demo ? await prepareDemo(server.services) : null
  if (demo) server.showDemo(demo)
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, "stopping")
    // The process exits even if the stop hangs, because all state is in the database.
    setTimeout(() => process.exit(1), 15_000).unref()
    await server.stop()
    await embedded?.stop()
    process.exit(0)
  }
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void stop(signal))
  // Last: a process that waits for the address may send a signal at once.
  for (const line of welcome(config, publicUrl(config, server.port), server.services, demo)) say(line)
}

start().catch((error: unknown) => {
  // Errors of the configuration are printed without a stack, all others with it.
  const sentence = error instanceof Error ? (error instanceof ConfigError || !error.stack ? error.message : error.stack) : String(error)
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
})
