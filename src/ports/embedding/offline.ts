import { setImmediate as yieldToEventLoop } from "node:timers/promises"
import { LRUCache } from "lru-cache"
import { type Embedding, EmbeddingFailure, normalise } from "../embedding.js"
import { thingsOf } from "../kit/thesaurus.js"
import { isStopWord, stem, words } from "../kit/words.js"
import { portLimits } from "../limits.js"

/** The first components count concepts of the thesaurus; all words and parts of words share the others. */
const NAMED = 128
const DIMENSIONS = 512

/** Longer words are not cached, because they rarely occur twice. */
const LONG_WORD = 40

/**
 * The built-in embedding: without network and model, and deterministic. A vector counts the concepts of a text from a small thesaurus, the
 * stems of its words, and parts of these words, so that synonyms, inflections and typing errors give similar vectors.
 */
export function offlineEmbedding(): Embedding {
  return {
    // The number changes whenever vectors are computed differently, because old and new ones cannot be compared.
    id: "offline/words-1",
    dimensions: DIMENSIONS,
    foundFrom: portLimits.offlineFoundFrom,
    sameFrom: portLimits.offlineSameFrom,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (const [at, text] of texts.entries()) {
        // Yields to the event loop, because many long texts take long.
        if (at % 16 === 0) await yieldToEventLoop()
        if (signal.aborted) throw new EmbeddingFailure("The vectors are no longer wanted", null, false)
        vectors.push(vectorOf(text))
      }
      return vectors
    },
  }
}

/** Weights of a word: its concept, its stem (with and without a concept), and all its parts together. */
const weights = { thing: 1.3, stemOfThing: 0.4, stem: 1, pieces: 0.3, stopWord: 0.1 }

type Feature = string | number

function vectorOf(text: string): Float32Array {
  const counts = new Map<Feature, number>()
  for (const word of words(text)) {
    for (const [feature, weight] of featuresOf(word)) counts.set(feature, (counts.get(feature) ?? 0) + weight)
  }
  const vector = new Float32Array(DIMENSIONS)
  for (const [feature, times] of counts) {
    // Repetitions count logarithmically.
    const weight = times > 1 ? 1 + Math.log(times) : times
    if (typeof feature === "number") vector[feature]! += weight
    else addHashed(vector, feature, weight)
  }
  return normalise(vector)
}

// Cached, because a few thousand words make up most texts. Each feature takes about 100 bytes; anybody may write words that nobody else does.
const read = new LRUCache<string, [Feature, number][]>({ maxSize: portLimits.offlineFeatures, sizeCalculation: ({ length }) => length + 1 })

function featuresOf(word: string): [Feature, number][] {
  const known = read.get(word)
  if (known) return known
  const isStop = isStopWord(word)
  const scale = isStop ? weights.stopWord : 1
  const things = isStop ? [] : thingsOf(word)
  const pieces = piecesOf(word)
  const features: [Feature, number][] = [
    ...things.map((thing): [Feature, number] => [thing, (scale * weights.thing) / Math.sqrt(things.length)]),
    [`=${stem(word)}`, scale * (things.length ? weights.stemOfThing : weights.stem)],
    ...pieces.map((piece): [Feature, number] => [piece, (scale * weights.pieces) / Math.sqrt(pieces.length)]),
  ]
  if (word.length <= LONG_WORD) read.set(word, features)
  return features
}

/** Substrings of three and four characters, including the word's boundaries. */
function piecesOf(word: string): string[] {
  const characters = ["^", ...word, "$"]
  const pieces: string[] = []
  for (const size of [3, 4]) {
    for (let at = 0; at + size <= characters.length; at++) pieces.push(characters.slice(at, at + size).join(""))
  }
  return pieces
}

/** Adds a feature at a component and with a sign that its hash determines, so that collisions cancel out on average. */
function addHashed(vector: Float32Array, feature: string, weight: number) {
  let hash = 0x811c9dc5
  for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193)
  // FNV's low bits are poorly distributed; this is the finalizer of MurmurHash 3.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash = (hash ^ (hash >>> 16)) >>> 0
  vector[NAMED + ((hash >>> 1) % (DIMENSIONS - NAMED))]! += hash & 1 ? weight : -weight
}
