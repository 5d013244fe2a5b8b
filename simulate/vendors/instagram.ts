import type { VendorAnswer, VendorCall } from "../kit/vendor-server.js"
import { type Fields, type MetaVendorOptions, refusal, type Sent } from "./meta.js"
import { MessagingVendor } from "./meta-messaging.js"

const types =
  /^(image\/(png|jpeg|gif)|video\/(mp4|ogg|vnd\.avi|x-msvideo|quicktime|webm)|audio\/(aac|mp4|x-m4a|wav|vnd\.wave)|application\/pdf)$/

/** Stand-in of Instagram messaging for one professional account and the page that it is linked to. */
export class InstagramVendor extends MessagingVendor {
  readonly accountId: string

  constructor(options: MetaVendorOptions = {}) {
    const accountId = "17841400000000000"
    super(
      {
        object: "instagram",
        accountId,
        textFault: (text) =>
          Buffer.byteLength(text) > 1000 ? refusal(100, "Length of param message[text] must be less than or equal to 1000 bytes") : null,
        typeFault: (type) => (types.test(type) ? null : refusal(100, "Upload attachment failure.", { subcode: 2018047 })),
        windowClosed: { subcode: 2534022 },
        noSuchCustomer: { subcode: 2534014 },
        hasMetadata: false,
        platform: "instagram",
      },
      options,
    )
    this.accountId = accountId
  }

  protected me({ query }: VendorCall): VendorAnswer {
    const asksAccount = query.get("fields")?.split(",").includes("instagram_business_account")
    return { json: { id: this.pageId, name: "Shop", ...(asksAccount && { instagram_business_account: { id: this.accountId } }) } }
  }

  /** The customer takes a message back. */
  remove(customer: string, mid: string): Fields {
    const message = { mid, is_deleted: true }
    return this.deliver(this.event({ sender: { id: customer }, recipient: { id: this.accountId }, message }), customer)
  }

  /** Instagram reports nothing before the message is read. */
  protected receipts(): Fields[] {
    return []
  }

  read({ id, to }: Sent): Fields {
    return this.deliver(this.event({ sender: { id: to }, recipient: { id: this.accountId }, read: { mid: id } }), to)
  }
}
