import { Link } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { useLive } from "../kit/live.js"
import { signOut } from "../kit/session.js"

const views = [
  ["/chats", "Chats"],
  ["/assistants", "Assistants"],
  ["/settings", "Settings"],
] as const

/** The bar above all views: company, connection, user. */
export function Header() {
  const { me, companyId } = usePlace()
  const { go, to, path } = useAddress()
  const { isConnected } = useLive()
  return (
    <header>
      <nav aria-label="Inbox">
        {views.map(([view, title]) => (
          <Link key={view} href={to(view)} aria-current={path.startsWith(view) ? "page" : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      <p role="status" className="connection">
        {isConnected ? "" : "Not connected. Trying again …"}
      </p>
      <select
        aria-label="Company"
        value={companyId}
        onChange={({ target }) => go("/chats", { company: target.value, folder: "", tag: "", manager: "" })}
      >
        {me.companies.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <span className="user">{me.name}</span>
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </header>
  )
}
