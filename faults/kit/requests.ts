import type { Instance } from "../../test/kit/campaign/instance.js"

/** What a request is about: a customer's message, a question that needs the database, or one of the addresses for operators. */
export type Topic = "message" | "question" | "live" | "ready" | "metrics"

/** A request and its response. */
export interface Asked {
  topic: Topic
  instance: string
  beganAt: number
  endedAt: number
  /** The table's status of the contract, also where GraphQL answers 200; 0 when there was no answer. */
  status: number
  /** Seconds of `Retry-After`, or null. */
  retryAfter: number | null
  error: string
}

/** Sends requests and writes every one of them down. */
export class Requests {
  readonly all: Asked[] = []

  /** Answers what came back: a parsed object where the answer is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
  async ask(topic: Topic, instance: Instance, path: string, init: RequestInit = {}): Promise<{ asked: Asked; text: string; body: any }> {
    const asked: Asked = { topic, instance: instance.name, beganAt: performance.now(), endedAt: 0, status: 0, retryAfter: null, error: "" }
    let [text, body]: [string, unknown] = ["", null]
    try {
      const answer = await fetch(instance.url + path, init)
      text = await answer.text()
      if (answer.headers.get("content-type")?.includes("json")) body = JSON.parse(text)
      const [refusal] = (body as { errors?: { extensions: { statusCode: number } }[] } | null)?.errors ?? []
      asked.status = refusal?.extensions.statusCode ?? answer.status
      const retryAfter = answer.headers.get("retry-after")
      asked.retryAfter = retryAfter === null ? null : Number(retryAfter)
    } catch (error) {
      asked.error = String((error as Error).cause ?? error)
    }
    asked.endedAt = performance.now()
    this.all.push(asked)
    return { asked, text, body }
  }
}
