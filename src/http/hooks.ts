import Router, { type RouterContext } from "@koa/router"
import { callFromAgent } from "../calls/agent-tools.js"
import { callLimits } from "../calls/limits.js"
import { receiveReport } from "../calls/receive.js"
import { connectionOf } from "../channels/connection.js"
import { type HookConnection, hookConnection } from "../channels/hook-connection.js"
import { inTurn } from "../channels/hook-queue.js"
import { channelLimits } from "../channels/limits.js"
import { receive } from "../channels/receive.js"
import { receiveFromWidget } from "../channels/widget.js"
import { addressKey } from "../context/rate-limit.js"
import type { RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { type Messenger, messengers } from "../entities/channel.js"
import { clock } from "../entities/kit/clock.js"
import { isUuid } from "../entities/kit/scalars.js"
import { BadUserInput, NotFound, Unauthenticated } from "../errors/errors.js"
import { BadEvent, type ChannelAdapter, type Event } from "../ports/channel.js"
import { readJson } from "./body.js"
import { readRaw } from "./raw-body.js"

/** Routes on which channels deliver customers' messages. */
export function hookRouter(services: Services): Router {
  const router = new Router()
    .post("/hooks/widget/:connectionId", (ctx) => fromWidget(services, ctx))
    .post("/hooks/voice/:provider", (ctx) => fromVoice(services, ctx))
    .post("/hooks/voice/:provider/tools/:toolId", (ctx) => fromVoiceAgent(services, ctx))
    .post("/hooks/:messenger/:connectionId", (ctx) => fromChannel(services, ctx, ctx["params"].messenger!))
  for (const messenger of messengers.filter((each) => services.channels.adapter(each)?.challenge))
    router.get(`/hooks/${messenger}/:connectionId`, (ctx) => challenge(services, ctx, messenger))
  return router
}

async function fromWidget(services: Services, ctx: RouterContext) {
  const { connectionId = "" } = ctx["params"]
  const request: RequestInfo = ctx.state["request"]
  await services.limits.address.count(addressKey(request.address), request.headers)
  const body = await readJson(ctx).catch(async (error) => {
    // An unknown connection is reported before a body that cannot be read.
    await connectionOf(services.database, "widget", connectionId)
    throw error
  })
  ctx.body = await receiveFromWidget(services, connectionId, request, body)
  ctx.status = 201
}

/**
 * A vendor's request. The checks are in the order of their cost: nothing is parsed before the signature of the raw bytes is right, and a
 * request without one costs no statement.
 */
async function fromChannel(services: Services, ctx: RouterContext, named: string) {
  const { adapter, messenger, id } = target(services, ctx, named)
  const body = await readRaw(ctx, channelLimits.hookBytes)
  const { signatureHeader } = adapter
  if (!signatureHeader || !ctx.get(signatureHeader)) throw await stranger(services, ctx)
  const connection = await hookConnection(services, messenger, id)
  if (!connection) {
    await stranger(services, ctx)
    throw new NotFound("Connection")
  }
  if (!adapter.verify({ headers: ctx.headers, body }, connection.account, clock.now())) throw await stranger(services, ctx)
  await services.limits.credential.count(`hook:${connection.id}`, (ctx.state["request"] as RequestInfo).headers)
  const stored = await inTurn(services, connection.id, body.length, async () => {
    // Parsed here, because what is parsed takes many times the memory of the body.
    const json = jsonOf(body)
    return await receive(services, connection, read(services, adapter, connection, json), json)
  })
  ctx.status = adapter.hookStatus
  ctx.body = stored ?? {}
}

/** A report of a voice provider about a call; a repeated one changes nothing. */
async function fromVoice(services: Services, ctx: RouterContext) {
  const provider = services.voices.find(({ name, capabilities }) => capabilities.webhooks && name === ctx["params"].provider)
  if (!provider) throw new NotFound("Voice provider")
  const body = await readRaw(ctx, callLimits.hookBytes)
  if (!provider.verifyWebhook({ headers: ctx.headers, body }, clock.now())) throw await stranger(services, ctx)
  const json = jsonOf(body)
  const facts = json && typeof json === "object" ? provider.parseWebhook(json) : null
  if (facts) await receiveReport(services, provider.name, facts)
  ctx.body = {}
}

/** A tool that an agent at a voice provider calls. */
async function fromVoiceAgent(services: Services, ctx: RouterContext) {
  const { provider, toolId = "" } = ctx["params"]
  if (!services.voices.some(({ name, capabilities }) => capabilities.agents && name === provider)) throw new NotFound("Voice provider")
  const body = await readRaw(ctx, callLimits.toolHookBytes)
  const secret = ctx.get("X-Voice-Tool-Secret")
  if (!secret) throw await stranger(services, ctx)
  const json = jsonOf(body)
  if (!json || typeof json !== "object" || Array.isArray(json)) throw new BadUserInput("The request body must be a JSON object")
  ctx.body = await callFromAgent(services, toolId, secret, json as Record<string, unknown>)
}

/** Counts a request without a right signature; returns the error that it is answered with. */
async function stranger(services: Services, ctx: RouterContext): Promise<Unauthenticated> {
  const request: RequestInfo = ctx.state["request"]
  await services.limits.address.count(addressKey(request.address), request.headers)
  return new Unauthenticated("The signature of the request is missing or wrong")
}

/** The question of a vendor whether the hook is ours. */
async function challenge(services: Services, ctx: RouterContext, named: Messenger) {
  const { adapter, messenger, id } = target(services, ctx, named)
  const connection = await hookConnection(services, messenger, id)
  if (!connection) {
    await stranger(services, ctx)
    throw new NotFound("Connection")
  }
  const answer = adapter.challenge!(new URLSearchParams(ctx.querystring), connection.account)
  if (answer === null) throw await stranger(services, ctx)
  ctx.type = "text/plain; charset=utf-8"
  ctx.body = answer
}

/** The messenger of a hook and the form of its connection's ID; 404 for any other. */
function target(services: Services, ctx: RouterContext, named: string): { adapter: ChannelAdapter; messenger: Messenger; id: string } {
  const id: string = ctx["params"].connectionId!
  const known = messengers.find((each) => each === named)
  const adapter = known && services.channels.adapter(known)
  if (!known || !adapter || !isUuid(id)) throw new NotFound("Connection")
  return { adapter, messenger: known, id }
}

/** The body as JSON; 400 for any other. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    throw new BadUserInput("The request body must be JSON")
  }
}

/** What a request reports. What is signed and not understood is dropped, since the vendor would repeat it. */
function read(services: Services, adapter: ChannelAdapter, connection: HookConnection, json: unknown): Event[] {
  try {
    const events = adapter.parse(json, connection.account)
    if (events.length === 0) services.log.info({ connectionId: connection.id }, "a hook's request concerns no chat and was dropped")
    return events
  } catch (error) {
    if (error instanceof BadEvent) throw new BadUserInput(error.message, error.details)
    throw error
  }
}
