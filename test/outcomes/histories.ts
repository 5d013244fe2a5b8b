import fc from "fast-check"
import { claimTurns } from "../../src/assistant/claim.js"
import { systemContext } from "../../src/context/request-context.js"
import type { Services } from "../../src/context/services.js"
import { Chat } from "../../src/entities/chat.js"
import { clock } from "../../src/entities/kit/clock.js"
import { quietChats } from "../../src/jobs/quiet-chats.js"
import { quietStretches } from "../../src/jobs/quiet-stretches.js"
import { reply } from "../../src/jobs/reply.js"
import { append } from "../../src/messages/append.js"
import type { FakeModel, FakeModelReply } from "../kit/fake-openai.js"
import { type PlainStretch, plainStretches, type StoredChat } from "../kit/plain-stretches.js"
import { storedChats, storedStretches } from "../kit/stored-chats.js"
import type { World } from "../kit/world.js"

/** What happens in a chat in one step; `none` is a step in which only time passes. */
const acts = [
  ...["customer", "customer", "customer", "twoAtOnce", "repeated", "person", "person", "integration", "note"],
  ...["off", "offByToken", "on", "end", "crashedMessage", "crashedTurn", "none", "none", "delete"],
] as const
type Act = (typeof acts)[number]

const second = 1_000
const hour = 60 * 60 * second
const pauses = [
  1,
  700,
  5 * second,
  5 * second,
  8 * second,
  40 * second,
  11 * 60 * second,
  3 * hour,
  23 * hour,
  24 * hour,
  47 * hour,
  80 * hour,
]

/** A server that takes part in the histories. */
export interface Instance {
  url: string
  services: Services
}

/** Plays random histories in many chats at once, on two servers, and returns the chats whose facts differ from a plain reading. */
export class Histories {
  /** What is not stored: the ends by people, and whether AI was on at first. */
  readonly #known = new Map<string, Pick<StoredChat, "ends" | "beganWithAi">>()
  readonly #deleted = new Map<string, PlainStretch[]>()
  #asked = 0
  #person = ""

  constructor(
    private readonly world: World,
    private readonly instances: Instance[],
    private readonly assistant: { id: string },
    model: FakeModel,
    tool: { name: string },
  ) {
    model.reply = async ({ body }) => this.answerOf(body.messages, tool.name)
  }

  /** What the model answers; the same for the same number of the call, so that most turns answer and the others are mixed in. */
  private answerOf(messages: { role: string }[], tool: string): FakeModelReply {
    const hasResult = messages.at(-1)!.role === "tool"
    const kind = hasResult ? 0 : this.#asked++ % 12
    if (kind === 5) return { text: "I get somebody.", toolCalls: [{ name: "turnOffAiMode" }] }
    if (kind === 6) return { toolCalls: [{ name: "turnOffAiMode", arguments: { reason: "None." } }] }
    if (kind === 7) return { toolCalls: [{ name: tool, arguments: {} }] }
    if (kind === 8) return { toolCalls: [{ name: "searchKnowledge", arguments: { query: "returns" } }] }
    if (kind === 9) return { toolCalls: [{ name: "searchKnowledge", arguments: { query: "?" } }] }
    if (kind === 10) return { status: 500 }
    if (kind === 11) return { text: "A forbidden answer" }
    return { text: "An answer" }
  }

  /** Plays so many histories of this seed, and compares. */
  async play(count: number, seed: number): Promise<string[]> {
    const plans = fc.sample(fc.array(fc.constantFrom(...acts), { minLength: 6, maxLength: 14 }), { numRuns: count, seed })
    const waits = fc.sample(fc.constantFrom(...pauses), { numRuns: 14, seed })
    const chats = await inTens(plans, async (_plan, index) => this.open(index % 3 > 0))
    for (const [step, pause] of waits.entries()) {
      // Another one in each step, whose session has not expired.
      this.#person = (await this.world.acme.person()).jwt
      await inTens(plans, (plan, index) => this.act(chats[index]!, plan[step] ?? "none", index))
      await this.work(step)
      clock.advance(pause)
    }
    return this.differences(chats.map(({ id }) => id))
  }

  private async open(isUnderAi: boolean): Promise<{ id: string }> {
    const chat = await this.world.acme.chat(isUnderAi ? { assistantId: this.assistant.id } : {})
    this.#known.set(chat.id, { ends: [], beganWithAi: isUnderAi })
    return chat
  }

  /** Both servers answer what is due, and end what is quiet; sometimes only one does, or none. */
  private async work(step: number) {
    const working = step % 4 === 3 ? [] : step % 4 === 2 ? this.instances.slice(0, 1) : this.instances
    await Promise.all(
      working.map(async ({ services }) => {
        await reply.sweep.run(services)
        await services.running.idle()
        await quietChats.run(services)
        await services.running.idle()
        await quietStretches.run(services)
      }),
    )
  }

  private async act({ id }: { id: string }, act: Act, index: number) {
    if (this.#deleted.has(id)) return
    const { acme } = this.world
    const [one, other] = index % 2 ? this.instances : [...this.instances].reverse()
    const say = (fields: object, { url }: Instance = one!, token: string = acme.token) =>
      this.send(url, "POST", "/api/messages", token, { chatId: id, text: "Hello", ...fields })
    const control = (isUnderAiControl: boolean, token: string) =>
      this.send(one!.url, "PATCH", `/api/chats/${id}`, token, { isUnderAiControl })
    const twice = { role: "Customer", idempotencyKey: `${id} ${clock.now().getTime()}` }
    const does: Record<Act, () => Promise<unknown>> = {
      customer: () => say({ role: "Customer" }),
      twoAtOnce: () => Promise.all([say({ role: "Customer" }), say({ role: "User" }, other)]),
      repeated: () => Promise.all([say(twice), say(twice, other)]),
      person: () => say({}, one, this.#person),
      integration: () => say({}),
      note: () => say({ role: "System" }),
      off: () => control(false, this.#person),
      offByToken: () => control(false, acme.token),
      on: () => control(true, this.#person),
      end: async () => {
        this.#known.get(id)!.ends.push({ at: clock.now().getTime(), why: "PERSON" })
        await this.send(one!.url, "POST", `/api/chats/${id}/end-stretch`, acme.token, {}, [201, 404])
      },
      crashedMessage: () => this.crash(one!, id),
      crashedTurn: () => this.loseTurn(one!, id),
      none: async () => {},
      delete: () => this.delete(one!, id),
    }
    await does[act]()
  }

  private async send(url: string, method: string, path: string, token: string, body: object, statuses = [200, 201]) {
    const credential: Record<string, string> = token.startsWith("amp_") ? { "x-access-token": token } : { authorization: `Bearer ${token}` }
    const headers = { ...credential, "content-type": "application/json" }
    const response = await fetch(url + path, { method, headers, body: method === "DELETE" ? undefined : JSON.stringify(body) })
    const text = await response.text()
    if (!statuses.includes(response.status)) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  }

  /** What a process leaves that dies after its statements and before the commit: nothing. */
  private async crash({ services }: Instance, chatId: string) {
    const died = new Error("The process died")
    const work = systemContext(services, this.world.acme.id).transaction(async (tx) => {
      const chat = await tx.find(Chat, chatId)
      await append(tx.unit, { chatId, role: "Customer", type: "Text", text: "Never stored" })
      chat.setAi(!chat.isUnderAiControl, null, { kind: "system", id: null })
      await tx.unit.flush()
      throw died
    })
    await work.catch((error) => {
      if (error !== died) throw error
    })
  }

  /** A process claims the due turn of a chat, and dies: another one takes it when the lease is over. */
  private async loseTurn({ services }: Instance, id: string) {
    await claimTurns(services, [{ id, companyId: this.world.acme.id, runId: crypto.randomUUID() }])
  }

  private async delete({ url }: Instance, id: string) {
    const [stored] = (await storedChats(this.world.sql, [id])).values()
    this.#known.get(id)!.ends.push({ at: clock.now().getTime(), why: "CHAT_DELETED" })
    this.#deleted.set(id, plainStretches({ ...stored!, ...this.#known.get(id)! }, 24, clock.now().getTime()))
    await this.send(url, "DELETE", `/api/chats/${id}`, this.world.acme.token, {})
  }

  /** The chats whose stretches are not those of the plain reading, each with both. */
  private async differences(ids: string[]): Promise<string[]> {
    const { sql } = this.world
    for (const { services } of this.instances) await quietStretches.run(services)
    const kept = ids.filter((id) => !this.#deleted.has(id))
    const plain = await storedChats(sql, kept)
    const found = await storedStretches(sql, "chat_id = any($1) or chat_id is null", [ids])
    const differing: string[] = []
    const compare = (id: string, expected: PlainStretch[], stored: (PlainStretch & { chatId: string | null })[]) => {
      const read = JSON.stringify(plain.get(id) ?? "deleted")
      const [one, other] = [expected, stored.map(({ chatId: _chatId, ...facts }) => facts)].map((each) => JSON.stringify(each, sorted))
      if (one !== other) differing.push(`${id}\nplain:  ${one}\nstored: ${other}\nread:   ${read}`)
    }
    for (const id of kept) {
      const chat = { ...plain.get(id)!, ...this.#known.get(id)! }
      compare(
        id,
        plainStretches(chat, 24, clock.now().getTime()),
        found.filter(({ chatId }) => chatId === id),
      )
    }
    for (const id of ids.filter((each) => this.#deleted.has(each))) {
      const expected = this.#deleted.get(id)!
      const own = new Set(expected.map((stretch) => stretch.id))
      compare(
        id,
        expected,
        found.filter((stretch) => own.has(stretch.id)),
      )
    }
    return differing
  }
}

/** Sorts the keys of objects, so that equal facts are equal texts. */
const sorted = (_key: string, value: unknown) =>
  value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value

/** Runs a task for each item, ten at a time. */
async function inTens<T, R>(items: T[], task: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let start = 0; start < items.length; start += 10)
    results.push(...(await Promise.all(items.slice(start, start + 10).map((item, index) => task(item, start + index)))))
  return results
}
