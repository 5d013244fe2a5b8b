import { setImmediate as breath } from "node:timers/promises"
import { type Embedding, EmbeddingFailure, normalise } from "../embedding.js"
import { isStopWord, stem, words } from "../kit/words.js"

const DIMENSIONS = 384

/**
 * The built-in embedding: no network, no model and no chance. A vector counts the stems of a text's words and pieces of these words, so that
 * inflections and slips of the pen lie close together; it knows no synonyms.
 */
export function offlineEmbedding(): Embedding {
  return {
    // The last part changes with how vectors are made, for old and new ones do not compare.
    id: "offline/words-1",
    dimensions: DIMENSIONS,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (const [at, text] of texts.entries()) {
        // Long texts in great numbers: others shall have their turn in between.
        if (at % 16 === 0) await breath()
        if (signal.aborted) throw new EmbeddingFailure("The vectors are no longer wanted", null, false)
        vectors.push(vectorOf(text))
      }
      return vectors
    },
  }
}

/** What a feature counts beside the others; the pieces of one word count together. */
const weights = { stem: 1, pieces: 0.5, stopWord: 0.1 }

function vectorOf(text: string): Float32Array {
  const times = new Map<string, number>()
  for (const word of words(text)) times.set(word, (times.get(word) ?? 0) + 1)
  const vector = new Float32Array(DIMENSIONS)
  for (const [word, count] of times) {
    // The tenth time says little that the first did not.
    const weight = (1 + Math.log(count)) * (isStopWord(word) ? weights.stopWord : 1)
    add(vector, `=${stem(word)}`, weight * weights.stem)
    const pieces = piecesOf(word)
    for (const piece of pieces) add(vector, piece, (weight * weights.pieces) / Math.sqrt(pieces.length))
  }
  return normalise(vector)
}

/** Three and four characters in a row, the word's ends among them. */
function piecesOf(word: string): string[] {
  const characters = ["^", ...word, "$"]
  const pieces: string[] = []
  for (const size of [3, 4]) {
    for (let at = 0; at + size <= characters.length; at++) pieces.push(characters.slice(at, at + size).join(""))
  }
  return pieces
}

/** Puts a feature on two places that its hash chooses, with a sign each, so that strangers who meet there cancel out on the whole. */
function add(vector: Float32Array, feature: string, weight: number) {
  let hash = 0x811c9dc5
  for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193)
  for (let place = 0; place < 2; place++) {
    hash = mixed(hash + place)
    vector[(hash >>> 1) % DIMENSIONS]! += hash & 1 ? weight : -weight
  }
}

// FNV's low bits are poor; this is the end of MurmurHash 3.
function mixed(hash: number): number {
  let mix = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
