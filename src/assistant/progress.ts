import { setTimeout as sleep } from "node:timers/promises"
import type { RequestContext } from "../context/request-context.js"
import { runQuery } from "../database/run-query.js"
import { chatReadModel } from "../schema/chat.js"
import { assistantLimits } from "./limits.js"

/** Publishes the text of a running answer to the chat's subscribers a few times a second, until the turn is lost or over. */
export class TurnProgress {
  /** What may be shown of a text so far: all of it, unless guardrails hold something back. */
  shownOf: (text: string) => string = (text) => text
  private current = ""
  /** The text of which a part was published last, and that part. */
  private seen: string | null = null
  private published: string | null = null
  private toldAt: number | null = null
  private publishing: Promise<void> | null = null
  private isOver = false

  constructor(
    private readonly context: RequestContext,
    private readonly chatId: string,
    private readonly turnId: string,
  ) {}

  /** The listener for the model's text; undefined while the chat has no subscribers. */
  get onText(): ((text: string) => void) | undefined {
    if (!this.context.services.progress.isWatched(this.chatId)) return undefined
    return (text) => {
      this.current = text
      this.publishing ??= this.catchUp()
        // The answer does not depend on progress: the next text retries.
        .catch((error) => this.context.request.log.warn({ err: error }, "the text of a running answer could not be published"))
        .finally(() => {
          this.publishing = null
        })
    }
  }

  /** Publishes the end of the turn, with the answer if one was stored. */
  end(answer: string | null) {
    this.isOver = true
    // Published last, after the message that is being published.
    void (this.publishing ?? Promise.resolve()).then(() => this.publish(answer ?? "", true))
  }

  /** A text that arrives while another is being published is published after it. */
  private async catchUp() {
    while (!this.isOver && this.seen !== this.current) await this.publishSoon()
  }

  private async publishSoon() {
    if (this.toldAt !== null) await sleep(Math.max(0, this.toldAt + assistantLimits.progressMs - performance.now()))
    this.toldAt = performance.now()
    // Checked each time: nothing is published after a person has taken the chat over.
    this.isOver ||= !(await this.isStillOurs())
    this.seen = this.current
    const shown = this.shownOf(this.seen)
    // The first one is published also while nothing of it is shown: the assistant is writing.
    if (this.isOver || shown === this.published) return
    this.published = shown
    await this.publish(shown, false)
  }

  private async publish(text: string, done: boolean) {
    const { progress } = this.context.services
    if (progress.isWatched(this.chatId)) await progress.publish(this.chatId, { turnId: this.turnId, text, done })
  }

  private async isStillOurs(): Promise<boolean> {
    const { reader } = this.context
    const held = reader.scoped(chatReadModel).where("t.id", "=", this.chatId).where("t.turn_id", "=", this.turnId)
    return (await runQuery(reader, held.where("t.is_under_ai_control", "=", true).select("t.id"))).length > 0
  }
}
