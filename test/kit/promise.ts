import { WaitError } from "./wait.js"

/** How the message of a broken promise begins: a file that fails in this way is not run a second time. */
export const promiseBroken = "PROMISE BROKEN: "

/** Whether this error is a broken promise. */
export const isBroken = (error: unknown): boolean => error instanceof Error && error.message.startsWith(promiseBroken)

/** The error of a promise that does not hold, with the failure that shows it. */
export function broken(sentence: string, failure: unknown): Error {
  if (isBroken(failure)) return failure as Error
  const { message, stack = "" } = failure instanceof Error ? failure : new Error(String(failure))
  const error = new Error(`${promiseBroken}${sentence}\n${message}`)
  // The place of the failed assertion, not of this line.
  const frames = stack.slice(stack.search(/^\s+at /m))
  error.stack = `Error: ${error.message}\n${/^\s+at /.test(frames) ? frames : ""}`
  return error
}

/**
 * Checks what holds at any speed of the machine: nothing is lost, doubled, out of order or another company's. Whatever the check throws is marked
 * as a broken promise.
 * @example promise("a customer's message is never stored twice", () => expect(stored).toHaveLength(1))
 */
export function promise<T>(sentence: string, check: () => T): T {
  let result: T
  try {
    result = check()
  } catch (error) {
    throw broken(sentence, error)
  }
  if (!(result instanceof Promise)) return result
  return result.catch((error) => {
    throw broken(sentence, error)
  }) as T
}

/** Whether an error says that something is otherwise than expected: not a refused connection, nor an answer that the server is busy. */
function isAssertion(error: unknown): boolean {
  if (error instanceof WaitError) return true
  const { matcherResult, code, actual, expected } = (error ?? {}) as Record<string, unknown>
  // The last one is a failed `expect` of a request.
  return Boolean(matcherResult) || code === "ERR_ASSERTION" || (actual !== undefined && expected !== undefined && actual !== 503)
}

/** A test's function, whose failed assertions and waits are marked as a broken promise. */
const marked =
  <Given extends unknown[]>(name: string, test: (...given: Given) => unknown) =>
  async (...given: Given): Promise<void> => {
    try {
      await test(...given)
    } catch (error) {
      throw isAssertion(error) ? broken(name, error) : error
    }
  }

/** The values of a row of a table, as parameters. */
type Values<Row extends readonly unknown[]> = { -readonly [Index in keyof Row]: Row[Index] }

/**
 * A test whose every assertion is about a promise: `it`, with failures that are marked as in `promise`.
 * @example promised("an answer that a take-over withdrew is not sent", async () => { … })
 */
export const promised = Object.assign((name: string, test: () => unknown, timeoutMs?: number) => it(name, marked(name, test), timeoutMs), {
  each:
    <Row extends readonly unknown[] | readonly [unknown]>(rows: readonly Row[]) =>
    (name: string, test: (...given: Values<Row>) => unknown) => {
      // Jest passes a callback to a function with more parameters than a row has values; this one declares none.
      it.each(rows as never)(name, marked(name, test as (...given: unknown[]) => unknown) as never)
    },
})
