import { readdirSync, readFileSync } from "node:fs"
import { buildSchema, isEnumType } from "graphql"
import { root } from "../kit/house-rules.js"

const folder = `${root}src/pages/browser/inbox`
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("words/"))
  .map((name) => readFileSync(`${folder}/${name}`, "utf8"))
  .join("\n")

/** The words of the schema's constants as the inbox shows them, before their translation. */
const words = Object.values(buildSchema(readFileSync(`${root}schema.graphql`, "utf8")).getTypeMap())
  .filter(isEnumType)
  .flatMap((type) => type.getValues().map(({ name }) => name.charAt(0) + name.slice(1).toLowerCase().replaceAll("_", " ")))

/** The texts of a language by their English words. */
function textsOf(language: string): Map<string, string> {
  const files = readdirSync(`${folder}/words`).filter((name) => name.startsWith(language))
  const text = files.map((name) => readFileSync(`${folder}/words/${name}`, "utf8")).join("\n")
  const lines = text.matchAll(/^ {2}(?:(\w+)|"((?:[^"\\]|\\.)+)"):\s+"((?:[^"\\]|\\.)+)",$/gm)
  return new Map([...lines].map(([, word, text, translated]) => [word ?? text!, translated!]))
}

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

describe.each(["de", "uk"])("the inbox's texts in %s", (language) => {
  const texts = textsOf(language)

  it("are those that the inbox shows, with the values of each", () => {
    expect(texts.size).toBeGreaterThan(200)
    const unused = [...texts.keys()].filter((english) => !sources.includes(`"${english}"`) && !words.includes(english))
    expect(unused).toEqual([])
    const different = [...texts].filter(([english, translated]) => `${placeholders(english)}` !== `${placeholders(translated)}`)
    expect(different).toEqual([])
  })
})
