import { randomBytes } from "node:crypto"
import { InstagramVendor } from "../../simulate/vendors/instagram.js"
import { MessengerVendor } from "../../simulate/vendors/messenger.js"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { WhatsAppVendor } from "../../simulate/vendors/whatsapp-business.js"
import { hmacSignature } from "../../src/ports/kit/signature.js"

/** The messengers whose vendors sign what they send to a hook. */
export const signingMessengers = ["telegram-bot", "whatsapp-business", "messenger", "instagram", "custom-messenger"] as const
export type SigningMessenger = (typeof signingMessengers)[number]

/** A connection of a company, and what its vendor knows to sign with. */
export interface Hook {
  path: string
  /** ID of the connected account, as the vendor's events name it. */
  accountId: string
  /** The headers that prove who sent a body. */
  sign(body: string | Buffer): Record<string, string>
  /** The token of the challenge by GET; only Meta's have one. */
  verifyToken: string | null
}

export type Hooks = Readonly<Record<SigningMessenger, Hook>>

/** How a stand-in is connected. */
interface Connection {
  accountId: string
  credentials: Record<string, string>
  environment: Record<string, string>
  sign(body: string | Buffer): Record<string, string>
}

/** Runs a command of the administration with further environment variables. */
// biome-ignore lint/suspicious/noExplicitAny: each command prints its own object.
type AdministerWith = (environment: Record<string, string>, ...args: string[]) => Promise<any>

const newSecret = () => randomBytes(16).toString("hex")

/** The stand-ins of the vendors of a company, which check its credentials at connect and have the files that messages name. */
export class Vendors {
  readonly #telegram = new TelegramBotVendor()
  readonly #whatsapp = new WhatsAppVendor({ appSecret: newSecret() })
  readonly #messenger = new MessengerVendor({ appSecret: newSecret() })
  readonly #instagram = new InstagramVendor({ appSecret: newSecret() })

  async listen(): Promise<this> {
    for (const vendor of this.#all) await vendor.listen()
    return this
  }

  async close() {
    for (const vendor of this.#all) await vendor.close()
  }

  /** Where a server finds them; Meta's messengers have one address, of which a server asks for files alone. */
  get environment(): Record<string, string> {
    return { TELEGRAM_BASE_URL: this.#telegram.server.url, META_GRAPH_BASE_URL: this.#whatsapp.server.url }
  }

  get #all() {
    return [this.#telegram, this.#whatsapp, this.#messenger, this.#instagram]
  }

  /** Connects an account of each messenger to a company, without an assistant. */
  async connect(administer: AdministerWith, companyId: string): Promise<Hooks> {
    const hooks: Partial<Record<SigningMessenger, Hook>> = {}
    const connections = this.#connections()
    for (const messenger of signingMessengers) {
      const { accountId, credentials, environment, sign } = connections[messenger]
      const named = ["--company", companyId, "--messenger", messenger, "--external-id", accountId, "--name", messenger]
      const { id } = await administer(environment, "channel:connect", ...named, "--credentials", JSON.stringify(credentials))
      hooks[messenger] = { path: `/hooks/${messenger}/${id}`, accountId, sign, verifyToken: credentials["verifyToken"] ?? null }
    }
    return hooks as Hooks
  }

  #connections(): Record<SigningMessenger, Connection> {
    const [secretToken, secret] = [newSecret(), newSecret()]
    const meta = ({ appSecret, verifyToken, server }: WhatsAppVendor | MessengerVendor | InstagramVendor) => ({
      shared: { appSecret, verifyToken },
      environment: { META_GRAPH_BASE_URL: server.url },
      sign: (body: string | Buffer) => ({ "x-hub-signature-256": hmacSignature(body, appSecret) }),
    })
    const [whatsapp, messenger, instagram] = [meta(this.#whatsapp), meta(this.#messenger), meta(this.#instagram)]
    const { token: accessToken, phoneNumberId } = this.#whatsapp
    return {
      "telegram-bot": {
        accountId: "shop_bot",
        credentials: { botToken: this.#telegram.token, secretToken },
        // Without a public address it would be polled.
        environment: { TELEGRAM_BASE_URL: this.#telegram.server.url, PUBLIC_URL: "https://hooks.example" },
        sign: () => ({ "x-telegram-bot-api-secret-token": secretToken }),
      },
      "whatsapp-business": {
        ...whatsapp,
        accountId: phoneNumberId,
        credentials: { accessToken, phoneNumberId, ...whatsapp.shared },
      },
      messenger: {
        ...messenger,
        accountId: this.#messenger.pageId,
        credentials: { pageAccessToken: this.#messenger.token, ...messenger.shared },
      },
      instagram: {
        ...instagram,
        accountId: this.#instagram.accountId,
        credentials: { pageAccessToken: this.#instagram.token, ...instagram.shared },
      },
      "custom-messenger": {
        accountId: "connector",
        credentials: { deliveryUrl: "http://127.0.0.1:9/deliver", secret },
        environment: {},
        sign: (body) => ({ "x-signature": hmacSignature(body, secret) }),
      },
    }
  }
}
