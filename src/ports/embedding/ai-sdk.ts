import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { type EmbeddingModel, embedMany } from "ai"
import { type Embedding, EmbeddingFailure, normalise } from "../embedding.js"
import { Deadline } from "../kit/deadline.js"
import { vendorFault } from "../kit/vendor-fault.js"
import { portLimits } from "../limits.js"

/** Connection to a vendor; `capMs` is the timeout of one request. */
export interface EmbeddingVendor {
  baseUrl: string
  apiKey?: string
  model: string
  capMs?: number
}

const VENDOR = "The embedding service"

/** Embeddings of any server that speaks `POST {baseUrl}/embeddings`; without a key no `Authorization` is sent, as local servers expect. */
export function openAiEmbedding({ baseUrl, apiKey, model, capMs = portLimits.embeddingCallMs }: EmbeddingVendor): Embedding {
  const vendor = createOpenAICompatible({ name: "openai", baseURL: baseUrl, apiKey }).embeddingModel(model)
  async function ask(texts: string[], signal: AbortSignal): Promise<Float32Array[]> {
    using deadline = new Deadline(capMs, signal)
    try {
      return await request(vendor, texts, deadline.signal)
    } catch (error) {
      deadline.abort()
      if (signal.aborted) throw notWanted()
      if (deadline.isOver) throw new EmbeddingFailure(`${VENDOR} gave no answer within ${capMs / 1000} s`)
      if (error instanceof EmbeddingFailure) throw error
      const { message, status } = vendorFault(error, VENDOR, apiKey)
      throw new EmbeddingFailure(message, status)
    }
  }
  return {
    // Vectors are identified by the model, wherever it runs.
    id: `openai/${model}`,
    dimensions: null,
    foundFrom: portLimits.embeddingFoundFrom,
    sameFrom: portLimits.embeddingSameFrom,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (const batch of batches(texts)) {
        if (signal.aborted) throw notWanted()
        vectors.push(...(await ask(batch, signal)))
      }
      if (vectors.some((vector) => vector.length !== vectors[0]!.length)) throw unreadable()
      return vectors
    },
  }
}

const notWanted = () => new EmbeddingFailure("The vectors are no longer wanted", null, false)
const unreadable = () => new EmbeddingFailure(`${VENDOR} sent an answer that cannot be read`, 200)

async function request(model: EmbeddingModel, values: string[], abortSignal: AbortSignal): Promise<Float32Array[]> {
  const { embeddings, responses } = await embedMany({ model, values, maxRetries: 0, maxParallelCalls: 1, abortSignal })
  const vectors = embeddings.map((values) => normalise(Float32Array.from(values)))
  if (vectors.length !== values.length || !vectors.every((vector) => vector.length && vector.every(Number.isFinite))) throw unreadable()
  return inOrder(vectors, responses?.[0]?.body)
}

// The response has the index of each vector's text; the SDK relies on the order instead.
function inOrder(vectors: Float32Array[], body: unknown): Float32Array[] {
  const items = (body as { data?: { index?: unknown }[] } | undefined)?.data ?? []
  if (items.every(({ index }, at) => index === undefined || index === at)) return vectors
  const places = new Map(items.map(({ index }, at) => [index, vectors[at]!]))
  const ordered = vectors.map((_vector, at) => places.get(at))
  if (ordered.includes(undefined)) throw unreadable()
  return ordered as Float32Array[]
}

/** Splits texts into requests within the vendors' limits: a number of texts, and a total number of characters. */
function batches(texts: string[]): string[][] {
  const made: string[][] = []
  let room = 0
  for (const text of texts) {
    const last = made.at(-1)
    if (last && last.length < portLimits.embeddingBatchTexts && text.length <= room) last.push(text)
    else made.push([text])
    room = (made.at(-1) === last ? room : portLimits.embeddingBatchCharacters) - text.length
  }
  return made
}
