import { measureAgain, printed, type Reference, reference } from "./reference.js"

/** How many times its bound a pace may take before it fails; PACE_FACTOR=1 judges it at its bound. */
const defaultFactor = 4

/** How many times its bound a pace may take before it fails. */
export const paceFactor = (): number => Number(process.env["PACE_FACTOR"] ?? defaultFactor)

/**
 * A unit of what a pace measures. Times are compared with the machine's speed, and so is how many times less than wanted came about; a ratio of
 * two times contains it already.
 */
export type PaceUnit = "ms" | "s" | "times" | "times less"

/** A measured pace: its value, the speed of the machine, and how many times its bound it takes there. */
export interface Pace {
  value: number
  reference: Reference
  ratio: number
}

/** Compares a value with its bound on a machine of this speed, which is measured again for a value beyond it. */
export async function judgedPace(value: number, bound: number, unit: PaceUnit, before?: Reference): Promise<Pace> {
  const judged = (at: Reference): Pace => ({ value, reference: at, ratio: value / bound / (unit === "times" ? 1 : at.slowdown) })
  const result = judged(before ?? (await reference()))
  if (result.ratio <= 1) return result
  // The machine may have become slower since.
  return [result, judged(await measureAgain())].toSorted((a, b) => a.ratio - b.ratio)[0]!
}

/**
 * Measures something whose duration depends on the machine, prints it beside the machine's speed, and fails beyond four times its bound on a
 * machine of that speed.
 * @example await pace("a revoked token closes its socket", 1_000, "ms", () => duration(() => closed))
 */
export async function pace(name: string, bound: number, unit: PaceUnit, measure: () => Promise<number> | number): Promise<Pace> {
  const before = await reference()
  const result = await judgedPace(await measure(), bound, unit, before)
  const { value, ratio } = result
  const line = `${name}: ${value.toPrecision(3)} ${unit}, bound ${bound} ${unit}, ratio ${ratio.toFixed(2)}, ${printed(result.reference)}`
  process.stderr.write(`PACE ${line}\n`)
  if (!(ratio <= paceFactor())) throw new Error(`Beyond ${paceFactor()} times its bound: ${line}`)
  return result
}

/** How many milliseconds it takes. */
export async function duration(run: () => unknown): Promise<number> {
  const begin = performance.now()
  await run()
  return performance.now() - begin
}
