import DataLoader from "dataloader"

/** Look-ups of one kind that run at once; a second one, so that the others do not wait for one that is slow. */
const atOnce = 2

/**
 * Answers the look-ups of concurrent requests by few statements: what is asked for while they run goes together into the next one. Nothing
 * is cached, so that each answer is newer than its question.
 */
export function together<Key, Value>(find: (keys: readonly Key[]) => Promise<Value[]>): (key: Key) => Promise<Value> {
  let running = 0
  let next: (() => void) | null = null
  const lookUp = async (keys: readonly Key[]) => {
    running += 1
    try {
      return await find(keys)
    } finally {
      running -= 1
      const run = next
      next = null
      run?.()
    }
  }
  const schedule = (run: () => void) => {
    if (running < atOnce) setImmediate(run)
    else next = run
  }
  const loader = new DataLoader(lookUp, { cache: false, batchScheduleFn: schedule })
  return (key) => loader.load(key)
}
