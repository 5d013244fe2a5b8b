import type { ReactNode } from "react"
import type { Dictionary } from "../words/de.js"

/** The languages of the inbox, as each is called in itself. */
export const languages = { en: "English", de: "Deutsch", uk: "Українська" } as const
export type Language = keyof typeof languages

/** A text of the inbox; it is named by its English words. */
export type Text = keyof Dictionary

const key = "inbox-language"
const dictionaries: Record<Exclude<Language, "en">, () => Promise<Dictionary>> = {
  de: async () => (await import("../words/de.js")).german,
  uk: async () => (await import("../words/uk.js")).ukrainian,
}

let dictionary: Dictionary | null = null

const isLanguage = (name: string | null | undefined): name is Language => name != null && Object.hasOwn(languages, name)

/** The language that was chosen in this browser, or the first of the browser's that the inbox has. */
export function language(): Language {
  const chosen = localStorage.getItem(key)
  return [chosen, ...navigator.languages.map((tag) => tag.split("-")[0])].find(isLanguage) ?? "en"
}

/** Loads the texts of the language; they stay until the page is loaded again. */
export async function loadWords(): Promise<void> {
  const name = language()
  document.documentElement.lang = name
  // English remains where the texts cannot be loaded, as after an update of the server.
  if (name !== "en") dictionary = await dictionaries[name]().catch(() => null)
}

/** Chooses a language, and shows the page in it. */
export function chooseLanguage(name: Language) {
  localStorage.setItem(key, name)
  location.reload()
}

const placeholder = /\{(\w+)\}/

/** A text in the language of the page; `{name}` in it stands for a value. */
export function t(text: Text, values: Record<string, string | number> = {}): string {
  const translated = dictionary?.[text] ?? text
  return translated.replace(new RegExp(placeholder, "g"), (whole, name: string) => String(values[name] ?? whole))
}

/** The same with elements in place of its values. */
export function parts(text: Text, values: Record<string, ReactNode>): ReactNode[] {
  return t(text)
    .split(placeholder)
    .map((part, index) => (index % 2 === 0 ? part : values[part]))
}

/** A word of the schema in the language of the page; one that has no translation stays as it is. */
export const translated = (english: string): string => dictionary?.[english as Text] ?? english
