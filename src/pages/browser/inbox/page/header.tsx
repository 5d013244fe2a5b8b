import { Link } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { useConnected } from "../kit/live.js"
import { signOut } from "../kit/session.js"
import { chooseLanguage, type Language, language, languages, t } from "../kit/words.js"

const views = [
  ["/chats", "Chats"],
  ["/outcomes", "Outcomes"],
  ["/assistants", "Assistants"],
  ["/settings", "Settings"],
] as const

/** The bar above all views: company, connection, user. */
export function Header() {
  const { me, companyId } = usePlace()
  const { go, to, path } = useAddress()
  const isConnected = useConnected()
  return (
    <header>
      <nav aria-label={t("Inbox")}>
        {views.map(([view, title]) => (
          <Link key={view} href={to(view)} aria-current={path.startsWith(view) ? "page" : undefined}>
            {t(title)}
          </Link>
        ))}
      </nav>
      <p role="status" className="connection">
        {isConnected ? "" : t("Not connected. Trying again …")}
      </p>
      <select
        aria-label={t("Company")}
        value={companyId}
        onChange={({ target }) => go("/chats", { company: target.value, folder: "", tag: "", manager: "" })}
      >
        {me.companies.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <LanguageChoice />
      <span className="user">{me.name}</span>
      <button type="button" onClick={() => void signOut()}>
        {t("Sign out")}
      </button>
    </header>
  )
}

/** The choice of the language, which shows the page again in another one. */
export const LanguageChoice = () => (
  <select aria-label={t("Language")} value={language()} onChange={({ target }) => chooseLanguage(target.value as Language)}>
    {Object.entries(languages).map(([value, name]) => (
      <option key={value} value={value} lang={value}>
        {name}
      </option>
    ))}
  </select>
)
