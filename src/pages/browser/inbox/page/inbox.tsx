import { type ReactNode, useEffect, useMemo, useState } from "react"
import { useQuery } from "urql"
import { Redirect, Route, Switch } from "wouter"
import { ChatList } from "../chats/chat-list.js"
import { Conversation } from "../chats/conversation.js"
import { PlaceContext, useAddress, usePlace } from "../kit/company.js"
import { heardOf } from "../kit/ended.js"
import { useAction, useShortcuts } from "../kit/help.js"
import { useFollowed } from "../kit/live.js"
import { Failure } from "../kit/notices.js"
import { cursorQuery, eventsSubscription, type Me, meQuery } from "../kit/operations.js"
import { signOut } from "../kit/session.js"
import { useNews, useTitle } from "../kit/title.js"
import { t } from "../kit/words.js"
import { Header } from "./header.js"
import { Assistants, Outcomes, Palette, Part, Settings } from "./parts.js"

const lastCompany = "inbox-company"

/** The inbox of a signed-in user. */
export function Inbox() {
  const [{ data, error }, again] = useQuery({ query: meQuery })
  if (data) return <SignedIn me={data.me} />
  return (
    <main className="whole" aria-busy={!error}>
      <Failure error={error} again={() => again({ requestPolicy: "network-only" })} />
    </main>
  )
}

function SignedIn({ me }: { me: Me }) {
  const { query } = useAddress()
  const companyId =
    query.get("company") ?? me.companies.find(({ id }) => id === localStorage.getItem(lastCompany))?.id ?? me.companies[0]?.id ?? ""
  const place = useMemo(() => ({ me, companyId }), [me, companyId])
  useEffect(() => {
    if (companyId) localStorage.setItem(lastCompany, companyId)
  }, [companyId])
  const { help } = useShortcuts()
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  useAction("palette", () => setPaletteOpen(true))
  if (!companyId) return <NoCompany />
  return (
    <PlaceContext.Provider value={place}>
      <Header />
      <Followed key={companyId}>
        <Switch>
          <Route path="/chats">
            <Chats />
          </Route>
          <Route path="/chats/:id/:messageId?">{({ id, messageId }) => <Chats chatId={id} messageId={messageId} />}</Route>
          <Route path="/outcomes/*?">
            <Part>
              <Outcomes />
            </Part>
          </Route>
          <Route path="/assistants/*?">
            <Part>
              <Assistants />
            </Part>
          </Route>
          <Route path="/settings/*?">
            <Part>
              <Settings />
            </Part>
          </Route>
          <Route>
            <Redirect to="/chats" replace />
          </Route>
        </Switch>
      </Followed>
      {help}
      {isPaletteOpen && (
        <Part fallback={null}>
          <Palette close={() => setPaletteOpen(false)} />
        </Part>
      )}
    </PlaceContext.Provider>
  )
}

/** Follows the events of the company. Its views read when it is known where the log ended before, so that they miss nothing that happens meanwhile. */
function Followed({ children }: { children: ReactNode }) {
  const { companyId } = usePlace()
  const news = useNews(companyId)
  const [{ data, error }, again] = useQuery({ query: cursorQuery, requestPolicy: "network-only" })
  // The cache takes over what the events say, the title how many chats wait.
  useFollowed(eventsSubscription, data ? { companyId, after: data.eventCursor } : null, (told) => {
    news(told)
    heardOf(told.events.type)
  })
  if (data) return children
  return (
    <main className="whole" aria-busy={!error}>
      <Failure error={error} again={() => again({ requestPolicy: "network-only" })} />
    </main>
  )
}

/** Shown to a user whom no company has added. */
function NoCompany() {
  return (
    <main className="whole">
      <p>{t("You are not a member of a company. Ask its owner to add you.")}</p>
      <button type="button" onClick={() => void signOut()}>
        {t("Sign out")}
      </button>
    </main>
  )
}

/** The list of chats, and one that is open, at a message of it or at its end. */
function Chats({ chatId, messageId }: { chatId?: string; messageId?: string }) {
  return (
    <main className="chats" data-view={chatId ? "chat" : "list"}>
      <h1 className="unseen">{t("Inbox")}</h1>
      <ChatList selected={chatId} />
      {chatId ? <Conversation key={chatId + (messageId ?? "")} chatId={chatId} messageId={messageId} /> : <NoChat />}
    </main>
  )
}

function NoChat() {
  useTitle(t("Chats"))
  return <p className="nothing">{t("Choose a chat. Ctrl + K finds chats and commands, ? shows the keys.")}</p>
}
