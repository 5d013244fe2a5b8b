/**
 * A signal that aborts after a time or with another one. Disposing of it releases both: AbortSignal.timeout() and AbortSignal.any() would keep what
 * listens to them, a request with its error and buffers, until the time is over, however soon the request has ended.
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  #isOver = false

  constructor(
    milliseconds: number,
    private readonly other?: AbortSignal,
  ) {
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"))
    }, milliseconds).unref()
    if (other?.aborted) this.#follow()
    else other?.addEventListener("abort", this.#follow)
  }

  /** Aborts when the time is over, or when the other signal aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the signal has aborted because the time was over. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Aborts the signal at once: what has failed may have left a response that is still read. */
  abort() {
    this.#controller.abort()
  }

  [Symbol.dispose]() {
    clearTimeout(this.#timer)
    this.other?.removeEventListener("abort", this.#follow)
  }

  readonly #follow = () => this.#controller.abort(this.other!.reason)
}
