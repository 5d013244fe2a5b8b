import pino, { type Logger } from "pino"
import type { Config } from "../config/config.js"
import { rootLimits } from "../limits.js"
import { lineForPeople } from "./line-for-people.js"

/**
 * The log of the process, on standard error, because standard output is for people: one JSON object a line, and for people on a terminal, in
 * color unless NO_COLOR is set.
 */
export function makeLog(config: Pick<Config, "logLevel">): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: rootLimits.unwrittenLogBytes })
  // As on a full disk: lines are lost. Without a listener the error would end the process.
  destination.on("error", () => {
    // At the exit it would repeat the failing write for ever.
    destination.flushSync = () => {}
  })
  const redact = ["req.headers", "*.password", "*.token", "*.accessToken"]
  const options = { level: config.logLevel, redact, formatters: { level: (level: string) => ({ level }) } }
  const colored = !process.env["NO_COLOR"]
  const terminal = { write: (line: string) => void destination.write(lineForPeople(line, colored)) }
  return pino(options, process.stderr.isTTY ? terminal : destination)
}
