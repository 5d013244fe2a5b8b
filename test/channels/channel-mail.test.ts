import { GmailVendor } from "../../simulate/vendors/gmail.js"
import { ResendVendor } from "../../simulate/vendors/resend.js"
import { administration } from "../kit/command-line.js"
import { until } from "../kit/wait.js"
import { type WorldOptions, world } from "../kit/world.js"

const resend = new ResendVendor()
const gmail = new GmailVendor()
const options: WorldOptions = { REPLY_DEBOUNCE_MS: "20", REPLY_MAX_WAIT_MS: "50", PUBLIC_URL: "http://127.0.0.1:1" }
const environment = () => ({
  RESEND_BASE_URL: resend.server.url,
  GMAIL_BASE_URL: gmail.server.url,
  GOOGLE_OAUTH_BASE_URL: gmail.server.url,
  PUBLIC_URL: "http://127.0.0.1:1",
})
beforeAll(async () => {
  await Promise.all([resend.listen(), gmail.listen()])
  Object.assign(options, environment())
})
afterAll(() => Promise.all([resend.close(), gmail.close()]))
const w = world(options)
const { acme, rest, sql } = w
const { done } = administration(w, undefined, environment)

const chatOf = (messenger: string) =>
  until(`a chat of ${messenger} is stored`, async () => (await sql("select * from chat where messenger = $1", [messenger]))[0])
const messages = async (chatId: string) =>
  (await rest.as(acme.token).get(`/api/messages?chatId=${chatId}&take=100`).expect(200)).body.data.reverse()
const connect = (messenger: string, externalId: string, credentials: object) =>
  done("channel:connect", {
    ...{ company: acme.id, messenger, "external-id": externalId, name: "Shop", assistant: acme.assistant.id },
    credentials: JSON.stringify(credentials),
  })

it("a mail over Resend is fetched, answered in its thread, and reported as delivered", async () => {
  const { id } = await connect("resend", "support@shop.example", { apiKey: resend.apiKey, from: "Shop <support@shop.example>" })
  resend.webhooks[0]!.endpoint = `${w.url}/hooks/resend/${id}`
  resend.write({ subject: "Hours", text: "When are you open?" })
  const answer = await until("an answer is sent", () => resend.sent[0])
  expect(answer).toMatchObject({ subject: "Re: Hours", text: expect.stringContaining("9:00") })
  const chat = await chatOf("resend")
  expect(chat).toMatchObject({ external_id: "ada@example.org", is_under_ai_control: true })
  await until("the answer is stored as sent", async () =>
    (await messages(chat.id)).some(({ role, status }: { role: string; status: string }) => role === "Assistant" && status === "sent"),
  )
  resend.report("email.delivered", answer)
  await until("the answer is delivered", async () =>
    (await messages(chat.id)).some(({ status }: { status: string }) => status === "delivered"),
  )
})

it("a mail that a program wrote is stored over Resend, and starts no turn", async () => {
  const before = resend.sent.length
  resend.write({ subject: "Away", text: "I am on holiday", headers: { "auto-submitted": "auto-replied" } })
  const chat = await chatOf("resend")
  await until("the mail is stored", async () =>
    (await messages(chat.id)).some(({ text }: { text: string }) => text.includes("I am on holiday")),
  )
  expect((await sql("select reply_due_at from chat where id = $1", [chat.id]))[0].reply_due_at).toBeNull()
  expect(resend.sent).toHaveLength(before)
})

it("a mail to Gmail is found by a poll, and the answer is in its thread", async () => {
  await connect("gmail", gmail.address, gmail.credentials)
  const sent: Parameters<GmailVendor["onSent"]>[0][] = []
  gmail.onSent = (mail) => void sent.push(mail)
  gmail.write({ subject: "Hours", text: "When are you open?" })
  // The poll follows ten seconds after the first one: made due now.
  const answer = await until("an answer is sent", async () => {
    await sql("update channel set poll_due_at = now() where messenger = 'gmail' and poll_id is null and poll_due_at is not null")
    return sent[0]
  })
  expect(answer.email.subject).toBe("Re: Hours")
  expect(answer.email.text).toContain("9:00")
  expect(await chatOf("gmail")).toMatchObject({ external_id: "ada@example.org" })
})
