import type { Instance } from "../test/kit/campaign/instance.js"
import type { Report } from "../test/kit/campaign/report.js"
import { must } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { EventReceiver } from "./kit/event-receiver.js"
import { type Deployment, insist } from "./kit/test-bed.js"
import { openChats } from "./resume.js"

/** How many endpoints there are and never answer, and how many events each company has. */
export interface EndpointsSize {
  companies: number
  endpointsOfEach: number
  /** Endpoints of each company that hang. */
  hangingOfEach: number
  eventsOfEach: number
}

interface Company {
  token: string
  chatId: string
  name: string
}

/**
 * Deliveries take a second at most, although some endpoints hang. A slow or busy machine takes longer for so many requests also when nobody
 * hangs: there the bound is the worst before and afterwards. A delivery that waits for an endpoint that hangs waits 15 seconds.
 */
const boundMs = 1_000

/** Events are sent to endpoints of which some never answer; the others get theirs as fast as if all answered. */
export async function slowEndpointsCampaign(deployment: Deployment, report: Report, _chance: Chance, size: EndpointsSize) {
  const receiver = await EventReceiver.start()
  try {
    const instance = await deployment.start("endpoints")
    const companies = await Promise.all(count(size.companies).map((index) => company(deployment, instance, index)))
    const register = async ({ token, name }: Company) => {
      for (const index of count(size.endpointsOfEach)) await receiver.register(instance.url, token, `${name}-${index}`)
    }
    await Promise.all(companies.map(register))
    const hangs = (endpoint: string) => Number(endpoint.split("-")[1]) < size.hangingOfEach
    // The first events compile code and fill caches.
    await deliver(instance, receiver, companies, { phase: "first", events: 1, waitsFor: () => true })
    const { eventsOfEach: events } = size
    const before = await deliver(instance, receiver, companies, { phase: "before", events, waitsFor: () => true })
    receiver.answering = ({ endpoint }) => (hangs(endpoint) ? "hang" : { status: 200, afterMs: 0 })
    const waitsFor = (endpoint: string) => !hangs(endpoint)
    const meanwhile = await deliver(instance, receiver, companies, { phase: "hanging", events, waitsFor })
    receiver.answering = () => ({ status: 200, afterMs: 0 })
    receiver.release()
    const after = await deliver(instance, receiver, companies, { phase: "after", events, waitsFor })
    const hanging = receiver.arrivals.filter(({ endpoint, text }) => hangs(endpoint) && text.startsWith("hanging"))
    const [all, many] = [size.companies * size.endpointsOfEach, size.companies * size.hangingOfEach]
    report.note(`${all} endpoints of ${size.companies} companies, ${events} events of each company`)
    const said = ({ median, worst }: typeof before) => `median ${median} ms, worst ${worst} ms`
    report.note(`when all answer: ${said(before)}, and afterwards ${said(after)}`)
    report.note(`when ${many} hang: ${said(meanwhile)} of those that answer; ${hanging.length} requests hang`)
    const usualMs = Math.max(boundMs, before.worst, after.worst)
    await report.pace("an event's way to an endpoint that answers, of that while none hangs", meanwhile.worst / usualMs, 1, "times")
    const reached = new Set(hanging.map(({ endpoint }) => endpoint)).size
    report.promise("each of those had requests that hang", reached === many ? [] : [`only ${reached}`])
    report.promise("each request is signed with the secret of its endpoint", receiver.forged)
  } finally {
    receiver.close()
  }
}

/** A company with a chat: that of the deployment, or a further one. */
async function company(deployment: Deployment, instance: Instance, index: number): Promise<Company> {
  let { token } = deployment
  if (index > 0) {
    const { id } = await deployment.administer(["company:create", "--name", `Company ${index}`])
    token = (await deployment.administer(["token:create", "--company", id, "--name", "Campaign"])).token
  }
  const [chatId] = await openChats({ ...deployment, token }, instance, 1)
  return { token, chatId: chatId!, name: `company${index}` }
}

/** Writes events of all companies in turn, and waits until the endpoints have them; answers how long that took, in milliseconds. */
async function deliver(
  instance: Instance,
  receiver: EventReceiver,
  companies: Company[],
  { phase, events, waitsFor }: { phase: string; events: number; waitsFor(endpoint: string): boolean },
) {
  const arrived = (begin: string) => receiver.arrivals.filter(({ endpoint, text }) => text.startsWith(begin) && waitsFor(endpoint))
  const registered = receiver.endpoints.filter(waitsFor).length
  for (const index of count(events)) {
    for (const { token, chatId, name } of companies) {
      const text = `${phase} ${name} ${index}`
      await insist(instance, token, "POST", "/api/messages", { chatId, role: "User", text }, text)
      // Each goes to all endpoints of its company, and the next one is not to find them busy.
      await must(`all endpoints that answer have "${text}"`, () => arrived(text).length >= registered / companies.length)
    }
  }
  const times = arrived(phase)
    .map(({ afterMs }) => afterMs)
    .sort((one, other) => one - other)
  return { median: times[Math.floor(times.length / 2)]!, worst: times.at(-1)! }
}
