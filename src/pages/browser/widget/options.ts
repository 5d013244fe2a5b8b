import type { Options } from "./types.js"

const rightToLeft = new Set(["ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"])

/** Reads the attributes of the script element; null when it names no connection. */
export function readOptions(script: HTMLScriptElement): Options | null {
  const { connection, title = "", greeting = "", color = "", position, language, page } = script.dataset
  if (!connection) return null
  const isPage = page !== undefined
  const chosen = language || (isPage && (new URLSearchParams(location.search).get("language") || navigator.language)) || ""
  const direction = directionOf(chosen)
  return {
    base: script.src,
    connectionId: connection,
    title,
    greeting,
    color: /^#([\da-f]{3}|[\da-f]{6})$/i.test(color) ? color : "",
    position: position === "left" || position === "right" ? position : direction === "rtl" ? "left" : "right",
    language: chosen || document.documentElement.lang || navigator.language,
    direction,
    isPage,
  }
}

/** The direction of the chosen language, or else of the page. */
function directionOf(language: string): "ltr" | "rtl" {
  if (language) return rightToLeft.has(language.toLowerCase().split("-")[0]!) ? "rtl" : "ltr"
  return getComputedStyle(document.documentElement).direction === "rtl" ? "rtl" : "ltr"
}

/** The text for a language, by its tag; English for a language that the table lacks. */
export function inLanguage<T>(texts: Record<"en" | "de" | "uk", T>, language: string): T {
  const [name] = language.toLowerCase().split("-")
  return name === "de" || name === "uk" ? texts[name] : texts.en
}

/** Colors of the accent: the chosen one, and black or white on it, whichever has more contrast. */
export function accentOf(color: string): string {
  if (!color) return ""
  const hex = color.length === 4 ? color.replace(/[\da-f]/gi, "$&$&") : color
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 0xff
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
  return `:host { --accent: ${hex}; --on-accent: ${luminance > 0.179 ? "#000" : "#fff"} }`
}

/** A stylesheet that a host page's Content-Security-Policy does not concern. */
export function sheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet()
  made.replaceSync(css)
  return made
}
