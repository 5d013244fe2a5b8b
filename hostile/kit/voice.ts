import { randomBytes } from "node:crypto"
import { ElevenLabsVendor, type VendorConversation } from "../../simulate/vendors/elevenlabs.js"
import { voiceToolSecret } from "../../src/assistant/voice-tools.js"
import { until } from "../../test/kit/campaign/wait.js"
import type { Company } from "./company.js"
import type { Pools } from "./pools.js"

/** The names of a call in the pools: ours, the provider's, and the telephone network's. */
export const callNames = ["dialed call", "conversation", "call SID"] as const

/** So many of the calls that were dialed last are named by requests: most of them are live. */
const named = 8
const longestWaitMs = 30_000

/** The stand-in of the voice provider, which the deployment shares, and what it knows to sign with. */
export class Voice {
  readonly vendor = new ElevenLabsVendor({ webhookSecret: randomBytes(16).toString("hex") })

  constructor(private readonly encryptionKey: string) {}

  async listen(): Promise<this> {
    await this.vendor.server.listen()
    return this
  }

  close() {
    return this.vendor.server.close()
  }

  /** Where a server finds it. */
  get environment(): Record<string, string> {
    return {
      ELEVENLABS_BASE_URL: this.vendor.server.url,
      ELEVENLABS_API_KEY: "key",
      ELEVENLABS_WEBHOOK_SECRET: this.vendor.webhookSecret,
    }
  }

  /** The secret with which an agent calls the tools of an assistant. */
  toolSecret(assistantId: string): string {
    return voiceToolSecret(Buffer.from(this.encryptionKey, "hex"), assistantId).toString("hex")
  }

  /** A call of a company that stays live: the customer answers, and the provider reports no end. */
  async liveCall({ pools }: Company, originate: () => Promise<unknown>, isAnswered: () => Promise<boolean>): Promise<void> {
    this.vendor.onDialed = (conversation) => {
      this.vendor.answer(conversation)
      keep(pools, conversation)
    }
    await originate()
    if (!(await until(isAnswered, longestWaitMs))) throw new Error("a call was not answered")
  }

  /** From now on all calls are those of one company; without a report they end by the first look-up. */
  follow({ pools }: Company) {
    this.vendor.onDialed = (conversation) => {
      this.vendor.end(conversation, { said: [["user", "Hello"]] })
      keep(pools, conversation)
    }
  }
}

/** Lets requests name a call by each of its names, which have the same place in their pools. */
function keep(pools: Pools, { user_id, conversation_id, metadata }: VendorConversation) {
  const names = [user_id, conversation_id, metadata.phone_call.call_sid]
  for (const [index, kind] of callNames.entries()) pools.add(kind, names[index]!, named)
}

/** What must not change of a company's calls, whatever is reported about those of another. */
export const callsOfCompany = `
  select id, status, ended_reason, duration, charged_minutes, provider_call_id, provider_reference, heard, transcript,
         (select count(*)::integer from tool_call where tool_call.call_id = call.id) as tool_calls,
         (select voice_balance from company where company.id = call.company_id) as voice_balance
  from call where company_id = $1 order by id`
