import { type FormEvent, useState } from "react"
import { signIn } from "../kit/session.js"

/** The form that starts a session; the page's address stays, so that a shared address opens after it. */
export function SignIn() {
  const [error, setError] = useState("")
  const [isSending, setSending] = useState(false)
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setSending(true)
    setError("")
    try {
      await signIn(String(form.get("email")), String(form.get("password")))
    } catch (refused) {
      setError(refused instanceof TypeError ? "The server does not answer. Try again." : (refused as Error).message)
      setSending(false)
    }
  }
  return (
    <main className="sign-in">
      <h1>Inbox</h1>
      <form onSubmit={submit}>
        <label>
          Email
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        <p role="alert" className="refused">
          {error}
        </p>
        <button type="submit" className="primary" disabled={isSending}>
          Sign in
        </button>
      </form>
    </main>
  )
}
