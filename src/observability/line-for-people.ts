/** Escape sequences of terminals, by level. */
const colors: Record<string, number> = { fatal: 31, error: 31, warn: 33, info: 32 }
const gray = 90

/** Fields of a line that are shown first, or that do not help on a terminal. */
const framing = new Set(["level", "time", "pid", "hostname", "msg", "err"])

/** Writes a JSON line of the log for people: local time, level and message, then the other fields, then the stack of an error. */
export function lineForPeople(json: string, colored: boolean): string {
  const line = JSON.parse(json) as Record<string, unknown> & { level: string; time: number; msg?: string; err?: { stack?: string } }
  const paint = (text: string, color = gray) => (colored ? `\u001b[${color}m${text}\u001b[39m` : text)
  const time = new Date(line.time)
  const clock = `${time.toTimeString().slice(0, "00:00:00".length)}.${String(time.getMilliseconds()).padStart(3, "0")}`
  const level = paint(line.level.toUpperCase().padEnd("DEBUG".length), colors[line.level])
  const fields = Object.entries(line).flatMap(([name, value]) => (framing.has(name) ? [] : [`${name}=${JSON.stringify(value)}`]))
  const head = [paint(clock), level, printable(line.msg ?? ""), ...(fields.length > 0 ? [paint(printable(fields.join(" ")))] : [])]
  const stack = line.err ? (line.err.stack ?? JSON.stringify(line.err)).split("\n").map((each) => `    ${printable(each)}\n`) : []
  return `${head.join(" ")}\n${stack.join("")}`
}

/** Replaces control characters, which would let the text of a client steer the terminal. */
const printable = (text: string) => text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
