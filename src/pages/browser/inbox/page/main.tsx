import { StrictMode, useSyncExternalStore } from "react"
import { createRoot } from "react-dom/client"
import { Router } from "wouter"
import { LiveClient } from "../kit/live.js"
import { Notices } from "../kit/notices.js"
import { onSession, sessionId } from "../kit/session.js"
import { loadWords } from "../kit/words.js"
import { Inbox } from "./inbox.js"
import { SignIn } from "./sign-in.js"

function Page() {
  const id = useSyncExternalStore(onSession, sessionId)
  if (id === null) return <SignIn />
  // Another tab may sign out and somebody else in: nothing of the session before is kept.
  return (
    <LiveClient key={id}>
      <Notices>
        <Inbox />
      </Notices>
    </LiveClient>
  )
}

await loadWords()
createRoot(document.getElementById("inbox")!).render(
  <StrictMode>
    <Router base="/inbox">
      <Page />
    </Router>
  </StrictMode>,
)
