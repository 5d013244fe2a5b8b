import type { Services } from "../../src/context/services.js"
import { clock } from "../../src/entities/kit/clock.js"
import type { RunningScheduler } from "../../src/jobs/kit/scheduler.js"
import type { FakeModel, FakeModelReply, FakeModelRequest } from "./fake-openai.js"
import { happens } from "./wait.js"
import type { World } from "./world.js"

/** Stops the clock of this process for the tests of a file: only `pass` moves it. */
export function stillTime() {
  beforeAll(() => clock.stop())
  afterAll(() => clock.reset())
  return {
    now: () => clock.now().getTime(),
    pass: (ms: number) => clock.advance(ms),
  }
}

/** Stops the job scheduler of a server: turns run only when the test sweeps. What it had begun is over then, and claims nothing of the test's. */
export async function stopScheduler({ services }: { services: Services }) {
  await (services.scheduler as RunningScheduler).stop()
  await services.running.idle()
}

/** A call that a fake model holds until the test answers it. */
export interface HeldCall {
  request: FakeModelRequest
  answer(reply: FakeModelReply): void
}

/** Holds every call of a fake model; `next` returns the next one. */
export function hold(fake: FakeModel) {
  const came: HeldCall[] = []
  const awaited: ((call: HeldCall) => void)[] = []
  fake.reply = (request) =>
    new Promise((answer) => {
      const hear = awaited.shift()
      const call = { request, answer }
      if (hear) hear(call)
      else came.push(call)
    })
  return {
    next: async (): Promise<HeldCall> =>
      came.shift() ??
      happens("the model is called", new Promise((resolve) => awaited.push(resolve)), () => `${fake.requests.length} calls came before`),
  }
}

/** The system prompt of a request to a fake model. */
export const systemOf = ({ body }: FakeModelRequest): string => body.messages[0].content

/** The conversation of a request to a fake model, as `role: text`. */
export const conversationOf = ({ body }: FakeModelRequest): string[] =>
  body.messages.slice(1).map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`)

/** The output that a tool message of a request to a fake model contains; throws when it is not between the marks. */
export function unwrapped(content: string): string {
  const [, output] = /^<result>([\s\S]*)<\/result>$/.exec(content) ?? []
  if (output === undefined) throw new Error(`Not marked as a result: ${content}`)
  return output
}

/** Requests about chats of Acme. */
export function chatViews({ acme, rest, gql, sql }: World) {
  return {
    /** A customer writes. */
    write: (chat: { id: string }, text = "Hello") => acme.message({ chatId: chat.id, text, role: "Customer" }),
    /** The chat as REST shows it. */
    look: async (chat: { id: string }) => (await rest.as(acme.token).get(`/api/chats/${chat.id}`).expect(200)).body,
    /** The messages, oldest first, as `role: text`; frames as `type`. */
    async said(chat: { id: string }): Promise<string[]> {
      const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}&take=100`).expect(200)
      return body.data
        .reverse()
        .map(({ role, type, text }: Record<string, string>) => (type === "Text" ? `${role}: ${text}` : `${role}: ${type}`))
    },
    /** The due time of the reply, in milliseconds since the epoch; null without one. */
    async due(chat: { id: string }): Promise<number | null> {
      const [row] = await sql("select extract(epoch from reply_due_at) * 1000 as due from chat where id = $1", [chat.id])
      return row.due === null ? null : Math.round(Number(row.due))
    },
    /** The changes of AI control, oldest first. */
    async controlChanges(chat: { id: string }) {
      const query = `query ($id: UUID!) { chat(id: $id) { controlChanges { isUnderAiControl aiDisableReason actorKind actorId } } }`
      const { data } = await gql(acme.token, query, { id: chat.id })
      return data.chat.controlChanges.reverse()
    },
    /** A user switches AI on or off. */
    control: (chat: { id: string }, isUnderAiControl: boolean) =>
      rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl }).expect(200),
  }
}
