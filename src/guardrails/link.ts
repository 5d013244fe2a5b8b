import type { Folded } from "./folded.js"
import type { Finder, Match } from "./rule.js"

/** Endings of names of which messengers make links without a scheme; without those that are also endings of files. */
const endings =
  "com|net|org|info|biz|io|co|tv|app|dev|shop|store|online|site|xyz|top|club|link|click|live|page|cloud|tech|gg|ly|eu|ua|de|at|ch|fr|es|pl|cz|sk|hu|ro|bg|nl|lu|dk|se|fi|ee|lv|lt|pt|gr|hr|si|rs|ie|uk|ca|au|nz|cn|jp|kr|ru|by|kz|tr|il|br|mx|ar|za|укр|рф"

/** Endings that are words: with a capital letter they begin a sentence, before which a space is missing. */
const wordEnding = /^(?:App|Shop|Store|Online|Site|Top|Club|Link|Click|Live|Page|Cloud|Es|At|Si|By)$/

const letter = String.raw`\p{L}\p{N}\p{M}`
const label = `[${letter}](?:[${letter}-]{0,61}[${letter}])?`
const rest = "[^\\s<>\"'`()\\[\\]]{0,2048}"

/** A link: with a scheme, with www, or a name with one of the endings. */
const link = new RegExp(
  [
    String.raw`(?<![${letter}])(?:(?:https?|ftp|wss?):[\\/]{1,8}|[a-z][a-z0-9+.-]{1,20}:[\\/]{2,8})(?:\[[0-9a-f:.]{0,50}\])?${rest}`,
    String.raw`(?<![${letter}@.-])www\d?\.${rest}`,
    String.raw`(?<![${letter}@.-])(?:${label}\.){1,8}(?<ending>${endings})(?![${letter}@-]|\.[${letter}])(?:[:/?#]${rest})?`,
  ].join("|"),
  "giu",
)

/** The host of a link as browsers read it; null when there is none. */
function hostOf(found: string): string | null {
  const address = /^[a-z][a-z0-9+.-]*:[\\/]/i.test(found) ? found.replace(/^(?!https?:)[^:]+:/i, "http:") : `http://${found}`
  const web = address.replace(/[.,;:!?*_~|]+$/, "")
  return URL.canParse(web) ? new URL(web).hostname.replace(/\.$/, "") : null
}

/** A host as it is compared: in the letters of DNS, in lower case; null when the text is no host alone. */
export function canonicalHost(host: string): string | null {
  const name = host.trim().replace(/\.$/, "")
  if (!name || /[\s/?#@\\:%]/.test(name) || !URL.canParse(`http://${name}/`)) return null
  return new URL(`http://${name}/`).hostname
}

/** Finds links to hosts that are none of these and no subdomain of them. */
export function links(hosts: readonly string[]): Finder {
  const own = hosts.flatMap((host) => canonicalHost(host) ?? [])
  const isOwn = (host: string | null) => own.some((each) => host === each || host?.endsWith(`.${each}`))
  return {
    form: "clean",
    find({ text }: Folded) {
      const found: Match[] = []
      for (const { 0: all, index, groups } of text.matchAll(link)) {
        if (wordEnding.test(groups?.["ending"] ?? "") || isOwn(hostOf(all))) continue
        found.push({ start: index, end: index + all.length, reason: "foreign_host" })
      }
      return found
    },
  }
}
