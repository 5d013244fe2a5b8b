import type { Customer, Fields, Sent } from "../../../simulate/vendors/meta.js"
import { HOUR } from "../../../simulate/vendors/meta.js"
import type { MessagingVendor } from "../../../simulate/vendors/meta-messaging.js"
import type { ChannelAdapter } from "../../../src/ports/channel.js"
import type { ChannelBed } from "../channel-bed.js"

/** A customer's ID, as Messenger and Instagram have it. */
export const PSID = "1254459154682919"

/** A message of the company, as the customer sees it. */
export const arrivedOf = ({ id, to, text, file, quoted }: Sent) => ({
  chat: to,
  text,
  files: file ? [{ filename: file.filename, bytes: file.bytes }] : [],
  externalId: id,
  quoted,
})

/** Hours ago, as the time of a customer's last message. */
export const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR)

export interface MessagingBed extends ChannelBed {
  vendor: MessagingVendor
  ada: Customer
}

/** An adapter of Messenger or Instagram that is connected to its stand-in. */
export async function messagingBed(
  vendor: MessagingVendor,
  externalId: string,
  adapterAt: (options: { baseUrl: string }) => ChannelAdapter,
  unsupported: Fields,
): Promise<MessagingBed> {
  await vendor.listen()
  const ada: Customer = { id: PSID, name: "Ada Lovelace", username: "ada" }
  vendor.customers.set(PSID, { ...ada, wroteAt: Date.now() })
  const credentials = { pageAccessToken: vendor.token, appSecret: vendor.appSecret, verifyToken: vendor.verifyToken }
  const midOf = (event: unknown) => (event as { entry: [{ messaging: [{ message: { mid: string } }] }] }).entry[0].messaging[0].message.mid
  return {
    vendor,
    ada,
    adapter: adapterAt({ baseUrl: vendor.server.url }),
    account: {
      companyId: "0199bbbb-0000-7000-8000-000000000000",
      connectionId: "0199aaaa-0000-7000-8000-000000000000",
      externalId,
      name: "Shop",
      credentials,
    },
    wrongCredentials: { ...credentials, pageAccessToken: "not-the-token" },
    faults: vendor.faults,
    customer: PSID,
    write: {
      text: (text) => vendor.write(ada, { text }),
      picture: (bytes, text) => {
        const attachments = [vendor.attachment("image", { type: "image/png", filename: "a.png", bytes })]
        return vendor.write(ada, { text, attachments })
      },
      reply: (text, mid) => vendor.write(ada, { text, reply_to: { mid } }),
      unsupported: () => vendor.write(ada, unsupported),
    },
    edit: (event, text) => vendor.edit(PSID, midOf(event), text),
    sign: (body) => vendor.sign(body),
    hooks: vendor.hooks,
    setHook: (url) => {
      vendor.callbackUrl = url
    },
    hookUrl: () => vendor.hookUrl(),
    arrived: () => vendor.sent.map(arrivedOf),
    block: () => {
      vendor.customers.get(PSID)!.isBlocked = true
    },
    typing: () => vendor.typing,
    close: () => vendor.close(),
  }
}

/** Why tests of the suite do not concern Messenger and Instagram. */
export const messagingSkips = {
  "its hook, and removes it": "the operator enters the URL; what the page reports has a test of its own",
  "the longest caption that it promises": "files have no captions",
  "each event once, in order, from where the last poll ended": "there is a hook only",
  "and reports a failure of the vendor": "there is a hook only",
}
