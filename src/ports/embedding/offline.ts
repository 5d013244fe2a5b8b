import { setImmediate as breath } from "node:timers/promises"
import { LRUCache } from "lru-cache"
import { type Embedding, EmbeddingFailure, normalise } from "../embedding.js"
import { thingsOf } from "../kit/thesaurus.js"
import { isStopWord, stem, words } from "../kit/words.js"

/** The first places of a vector count things that have a name in the thesaurus, the others are shared by all words and pieces of words. */
const NAMED = 128
const DIMENSIONS = 512

/** A longer word is hardly met twice. */
const LONG_WORD = 40

/**
 * The built-in embedding: no network, no model and no chance. A vector counts what a text speaks of by a small thesaurus, the stems of its
 * words, and pieces of these words, so that everyday synonyms, inflections and slips of the pen lie close together.
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

/** What a word counts: as a thing, by its stem (beside a thing, and alone), and by all its pieces together. */
const weights = { thing: 1.3, stemOfThing: 0.4, stem: 1, pieces: 0.3, stopWord: 0.1 }

type Feature = string | number

function vectorOf(text: string): Float32Array {
  const counts = new Map<Feature, number>()
  for (const word of words(text)) {
    for (const [feature, weight] of featuresOf(word)) counts.set(feature, (counts.get(feature) ?? 0) + weight)
  }
  const vector = new Float32Array(DIMENSIONS)
  for (const [feature, times] of counts) {
    // The tenth time says little that the first did not.
    const weight = times > 1 ? 1 + Math.log(times) : times
    if (typeof feature === "number") vector[feature]! += weight
    else scatter(vector, feature, weight)
  }
  return normalise(vector)
}

// The same few thousand words make up most of every text.
const read = new LRUCache<string, [Feature, number][]>({ max: 20_000 })

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

/** Three and four characters in a row, the word's ends among them. */
function piecesOf(word: string): string[] {
  const characters = ["^", ...word, "$"]
  const pieces: string[] = []
  for (const size of [3, 4]) {
    for (let at = 0; at + size <= characters.length; at++) pieces.push(characters.slice(at, at + size).join(""))
  }
  return pieces
}

/** Puts a feature on a place and with a sign that its hash chooses, so that strangers who meet there cancel out on the whole. */
function scatter(vector: Float32Array, feature: string, weight: number) {
  let hash = 0x811c9dc5
  for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193)
  // FNV's low bits are poor; this is the end of MurmurHash 3.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash = (hash ^ (hash >>> 16)) >>> 0
  vector[NAMED + ((hash >>> 1) % (DIMENSIONS - NAMED))]! += hash & 1 ? weight : -weight
}
