import pino from "pino"
import type { Messenger } from "../entities/channel.js"
import { ChannelFailure, type Channels, type Credentials } from "../ports/channel.js"
import { channels } from "../ports/index.js"
import { GuardedHttpClient } from "../ports/kit/guarded-http-client.js"
import { type CommandContext, Refusal, UsageError } from "./kit.js"
import { adminLimits } from "./limits.js"

/** The messengers, for one command. */
export type Messengers = Channels & AsyncDisposable

/** The messengers that commands talk to. */
export function channelsOf({ config }: CommandContext): Messengers {
  const httpClient = new GuardedHttpClient(config.allowPrivateNetwork)
  const messengers = channels(config, httpClient, pino({ level: "silent" }))
  const close = async () => {
    await Promise.all([messengers.close(), httpClient.close()])
  }
  return { ...messengers, [Symbol.asyncDispose]: close }
}

/** Asks a vendor; its refusal is that of the command, in its words. */
export async function asked<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await ask(AbortSignal.timeout(adminLimits.vendorMs))
  } catch (error) {
    if (error instanceof ChannelFailure) throw new Refusal(error.message)
    throw error
  }
}

/** Reads the credentials that a messenger needs, without asking its vendor. */
export function readCredentials(vendor: Channels, messenger: Messenger, text: string | undefined): Credentials {
  let given: Record<string, unknown>
  try {
    given = JSON.parse(text ?? "{}")
  } catch {
    throw new UsageError("--credentials must be a JSON object")
  }
  if (!given || typeof given !== "object" || Array.isArray(given)) throw new UsageError("--credentials must be a JSON object")
  const adapter = vendor.adapter(messenger)
  const read: Record<string, string> = {}
  for (const name of adapter?.credentials ?? []) {
    const [key = "", isOptional] = [name.replace("?", ""), name.endsWith("?")]
    const value = given[key]
    if (value === undefined && isOptional) continue
    if (typeof value !== "string" || value === "") throw new Refusal(`${messenger} needs the credential ${key}, a text`)
    read[key] = value
  }
  const fault = adapter?.faultOf?.(read)
  if (fault) throw new Refusal(fault)
  return read
}
