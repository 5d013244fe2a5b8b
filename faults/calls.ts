import { ElevenLabsVendor, type VendorConversation } from "../simulate/vendors/elevenlabs.js"
import type { Instance } from "../test/kit/campaign/instance.js"
import { longest, type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import type { Deployment } from "./kit/test-bed.js"

/** How many calls are accepted at once, on how many lines, and how often the server is killed. */
export interface CallSize {
  calls: number
  lines: number
  /** Most kills; there are no more when all calls have ended. */
  kills: number
  /** Time from one kill to the next; without it a time by chance, or until a dial. */
  everyMs?: number
  waitMs: number
  patienceMs: number
}

/** How a call goes on at the vendor, and whether its webhook is sent. */
interface Plan {
  answerMs: number
  talkMs: number
  seconds: number
  hasWebhook: boolean
}

export const dialedOnce = "each call is dialed once at most"

const balanceBefore = 1_000

/** Calls that are accepted at once on few lines, while the server is killed with -9 around their dials. */
export async function callCampaign(deployment: Deployment, report: Report, chance: Chance, size: CallSize) {
  const { calls, lines, kills, waitMs, everyMs } = size
  const plans = count(calls).map((): Plan => {
    const [answerMs, talkMs, seconds] = [chance.whole(50, 400), chance.whole(200, 1_500), chance.whole(1, 200)]
    return { answerMs, talkMs, seconds, hasWebhook: chance.whole(0, 3) > 0 }
  })
  // Every second kill strikes between the vendor's dial and its answer.
  const strikes = count(kills).map((index) => ({ isAimed: index % 2 === 0, afterMs: chance.whole(100, 3_000) }))
  const vendor = new ElevenLabsVendor()
  await vendor.server.listen()
  try {
    await deployment.administer([
      "balance:set",
      "--company",
      deployment.companyId,
      "--voice",
      String(balanceBefore),
      "--voice-lines",
      String(lines),
    ])
    const instance = await deployment.start("calls", {
      ELEVENLABS_BASE_URL: vendor.server.url,
      ELEVENLABS_API_KEY: "key",
      ELEVENLABS_WEBHOOK_SECRET: vendor.webhookSecret,
      CALL_QUEUE_WAIT_MS: String(waitMs),
    })
    const phone = new Telephone(vendor, instance, plans)
    for (const about of chance.shuffled(count(calls)).slice(0, Math.ceil(calls / 10)))
      vendor.faults.next({ fault: "reset-after", on: "outbound-call", about: numberOf(about) })
    const [assistant] = await deployment.sql("select id from assistant where company_id = $1", [deployment.companyId])
    const accepting = Promise.all(count(calls).map((index) => accept(deployment, instance, assistant.id, index)))
    let struckAt = performance.now()
    for (const { isAimed, afterMs } of strikes) {
      const pauseMs = everyMs && struckAt + everyMs - performance.now() - (isAimed ? aimMs : 0)
      if (pauseMs !== undefined) await sleep(Math.max(0, pauseMs))
      else if (!isAimed) await sleep(afterMs)
      if (vendor.dialed.length > 0 && !(await hasOpen(deployment))) break
      // With a fixed time between kills there may be no dial in it: the kill strikes elsewhere then.
      if (isAimed) await until(() => phone.isDialing, everyMs ? aimMs : 15_000)
      struckAt = performance.now()
      phone.strikes.push(phone.isDialing ? "in a dial" : "elsewhere")
      await instance.kill()
      await instance.start()
    }
    const ids = await accepting
    await until(async () => {
      const open = await deployment.sql(`select id, ${isInDoubt} as in_doubt from call where reported_at is null`)
      const dialed = dialsOf(vendor)
      if (open.length > 0 && open.every(({ id, in_doubt }) => in_doubt && !dialed.includes(id))) await endDoubt(deployment)
      return open.length === 0
    }, size.patienceMs)
    // A recording that failed may come a moment later.
    await until(async () => (await unrecorded(deployment)).length === 0, 10_000)
    report.note(`${phone.strikes.length} kills: ${tally(phone.strikes)}; ${vendor.dialed.length} dials, at most ${phone.most} at a time`)
    await judge(deployment, report, { vendor, phone, ids, size })
  } finally {
    vendor.server.disconnect()
    await vendor.server.close()
  }
}

const numberOf = (index: number) => `+1555${String(index).padStart(6, "0")}`

/** The customers' telephones: each answers, talks and hangs up as planned, and the vendor reports it or not. */
class Telephone {
  readonly strikes: string[] = []
  /** Most calls at a time. */
  most = 0
  private live = 0
  private dialing = 0

  constructor(
    private readonly vendor: ElevenLabsVendor,
    private readonly instance: Instance,
    private readonly plans: Plan[],
  ) {
    vendor.onDialed = (conversation) => this.ring(conversation)
  }

  /** Whether a call was dialed whose answer the server does not have yet. */
  get isDialing() {
    return this.dialing > 0
  }

  private async ring(conversation: VendorConversation) {
    this.live += 1
    this.most = Math.max(this.most, this.live)
    this.dialing += 1
    const index = Number(this.vendor.dialed.at(-1).to_number.slice(-6))
    void this.talk(conversation, this.plans[index]!)
    await sleep(150)
    this.dialing -= 1
  }

  private async talk(conversation: VendorConversation, { answerMs, talkMs, seconds, hasWebhook }: Plan) {
    await sleep(answerMs)
    this.vendor.answer(conversation)
    await sleep(talkMs)
    this.vendor.end(conversation, {
      seconds,
      said: [
        ["agent", "Hello!"],
        ["user", "Hi."],
      ],
    })
    this.live -= 1
    if (!hasWebhook) return
    const { body, headers } = this.vendor.webhook("post_call_transcription", conversation)
    // The vendor does not repeat it: a server that is down learns of the end by a look-up.
    await fetch(`${this.instance.url}/hooks/voice/elevenlabs`, { method: "POST", body, headers }).catch(() => null)
  }
}

/** Asks for a call until it is accepted; the key makes the repeated requests one. */
async function accept(deployment: Deployment, instance: Instance, assistantId: string, index: number): Promise<string> {
  const headers = { "content-type": "application/json", "x-access-token": deployment.token, "idempotency-key": `call-${index}` }
  const body = JSON.stringify({ phoneNumber: numberOf(index) })
  let id = ""
  await must("a call is accepted", async () => {
    const response = await fetch(`${instance.url}/api/assistants/${assistantId}/originate`, { method: "POST", headers, body }).catch(
      () => null,
    )
    if (response?.status === 200) id = ((await response.json()) as { workflowId: string }).workflowId
    else await sleep(100)
    return id !== ""
  })
  return id
}

/** IDs of the calls that the vendor dialed, in order. */
const dialsOf = (vendor: ElevenLabsVendor) => vendor.dialed.map(({ conversation_initiation_client_data: { user_id } }) => user_id as string)

/** The dial of the call ended without an answer. A call that a worker holds may be in its dial right now. */
const isInDoubt = "dialed_at is not null and provider_call_id is null and line_work_id is null"

/** Moves calls in doubt to the end of the two minutes in which the vendor is asked whether they were dialed. */
const endDoubt = (deployment: Deployment) =>
  deployment.sql(
    `update call set dialed_at = dialed_at - interval '2 minutes'
     where reported_at is null and ${isInDoubt} and dialed_at > now() - interval '2 minutes'`,
  )

/** How long before the time of a kill a dial is waited for. */
const aimMs = 3_000

const hasOpen = async (deployment: Deployment) => (await deployment.sql("select 1 from call where reported_at is null limit 1")).length > 0

/** Between the look at a call's wait and the time at which it is recorded to have its line. */
const placingMs = 1_000

const unrecorded = (deployment: Deployment) =>
  deployment.sql("select id, status from call where duration is not null and (status <> 'transcribed' or recording_id is null)")

interface Judged {
  vendor: ElevenLabsVendor
  phone: Telephone
  ids: string[]
  size: CallSize
}

async function judge(deployment: Deployment, report: Report, { vendor, phone, ids, size }: Judged) {
  const rows = await deployment.sql(
    `select id, status, duration, charged_minutes as charged, dialed_at is not null as is_dialed, ended_reason as reason,
       (extract(epoch from coalesce(line_taken_at, ended_at) - call_date) * 1000)::float8 as waited
     from call`,
  )
  const [{ balance }] = await deployment.sql("select voice_balance as balance from company where id = $1", [deployment.companyId])
  const events = await deployment.sql(
    "select payload #>> '{call,id}' as id, count(*)::int as n from event where type = 'CALL_ENDED' group by 1",
  )
  const dials = dialsOf(vendor)
  const name = ({ id, status }: { id: string; status: string }) => `${id} (${status})`
  report.note(`${rows.length} calls: ${tally(rows.map(({ status, reason }) => `${status}/${reason}`))}`)
  report.note(`longest wait for a line ${worst(rows.filter(({ is_dialed }) => is_dialed).map(({ waited }) => waited))}`)
  report.promise("each accepted call is one record, and each has ended", [
    ...ids.filter((id) => !rows.some((row) => row.id === id)),
    ...(rows.length === size.calls ? [] : [`${rows.length} records of ${size.calls} calls`]),
    ...rows.filter(({ reason }) => reason === null).map(name),
  ])
  report.promise(
    dialedOnce,
    dials.filter((id, index) => dials.indexOf(id) !== index),
  )
  report.promise("there are never more calls than lines", phone.most > size.lines ? [`${phone.most} calls on ${size.lines} lines`] : [])
  report.promise("only calls whose wait has run out are not dialed, and none of them was", [
    ...rows.filter(({ status, id, waited }) => status === "not_dialed" && (dials.includes(id) || waited < size.waitMs)).map(name),
  ])
  const overdue = rows.filter(({ status }) => status !== "not_dialed").map(({ waited }) => waited - size.waitMs)
  await report.pace("a call got its line after its wait had run out", longest(overdue), placingMs)
  const cost = (seconds: number | null) => (seconds === null ? null : Math.round((seconds / 60) * 10_000) / 10_000)
  const spent = rows.reduce((sum, { duration }) => sum + (cost(duration) ?? 0), 0)
  report.promise("money is charged once for each connected call", [
    ...rows.filter(({ duration, charged }) => charged !== cost(duration)).map(name),
    ...(Math.abs(balanceBefore - spent - balance) < 0.001 ? [] : [`the balance is ${balance}, not ${balanceBefore - spent}`]),
  ])
  report.promise(
    "each connected call has its transcript and its recording",
    (await unrecorded(deployment)).map((row) => name(row as never)),
  )
  const connected = rows.filter(({ duration }) => duration !== null).length
  report.promise(
    "each call that was dialed was connected",
    connected === new Set(dials).size ? [] : [`${connected} of ${new Set(dials).size}`],
  )
  report.promise("each call has one event of its end", rows.filter(({ id }) => events.find((event) => event.id === id)?.n !== 1).map(name))
}
