import type { VendorAnswer } from "../kit/vendor-server.js"
import { type Fields, type MetaVendorOptions, refusal, type Sent } from "./meta.js"
import { MessagingVendor } from "./meta-messaging.js"

const PAGE = "682498302938465"

/** Stand-in of Messenger for one page, with its customers. */
export class MessengerVendor extends MessagingVendor {
  constructor(options: MetaVendorOptions = {}) {
    super(
      {
        object: "page",
        accountId: PAGE,
        textFault: ({ length }) =>
          length > 2000 ? refusal(100, "Length of param message[text] must be less than or equal to 2000") : null,
        typeFault: () => null,
        windowClosed: { subcode: 2018278 },
        noSuchCustomer: { subcode: 2018001 },
        hasMetadata: true,
        platform: null,
      },
      options,
    )
  }

  protected me(): VendorAnswer {
    return { json: { id: this.pageId, name: "Shop" } }
  }

  protected receipts({ id, to }: Sent): Fields[] {
    return [this.event({ ...this.parties(to), delivery: { mids: [id], watermark: Date.now() } })]
  }

  read({ to }: Sent): Fields {
    return this.deliver(this.event({ ...this.parties(to), read: { watermark: Date.now() } }), to)
  }

  private parties(customer: string) {
    return { sender: { id: customer }, recipient: { id: this.pageId } }
  }
}
