import { type FormEvent, useEffect, useState } from "react"
import { signIn } from "../kit/session.js"
import { t } from "../kit/words.js"

/** The demo's owner, whom the server tells to a browser on its own machine alone. */
const demo = document.querySelector<HTMLElement>("meta[name=demo-owner]")?.dataset as { email: string; password: string } | undefined

/** The form that starts a session; the page's address stays, so that a shared address opens after it. */
export function SignIn() {
  const [error, setError] = useState("")
  const [isSending, setSending] = useState(false)
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    void start(String(form.get("email")), String(form.get("password")))
  }
  async function start(email: string, password: string) {
    setSending(true)
    setError("")
    try {
      await signIn(email, password)
    } catch (refused) {
      setError(refused instanceof TypeError ? t("The server does not answer. Try again.") : (refused as Error).message)
      setSending(false)
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page was opened by the button of the start page.
  useEffect(() => {
    if (demo && new URLSearchParams(location.search).has("demo")) void start(demo.email, demo.password)
  }, [])
  return (
    <main className="sign-in">
      <h1>{t("Inbox")}</h1>
      <form onSubmit={submit}>
        <label>
          {t("Email")}
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          {t("Password")}
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        <p role="alert" className="refused">
          {error}
        </p>
        <button type="submit" className="primary" disabled={isSending}>
          {t("Sign in")}
        </button>
        {demo && (
          <button type="button" disabled={isSending} onClick={() => void start(demo.email, demo.password)}>
            {t("Sign in as the demo’s owner")}
          </button>
        )}
      </form>
    </main>
  )
}
