import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { InstagramVendor } from "../vendors/instagram.js"
import { MessengerVendor } from "../vendors/messenger.js"
import type { Customer, Fields, MetaVendor, Sent, Upload } from "../vendors/meta.js"
import type { MessagingVendor } from "../vendors/meta-messaging.js"
import { WhatsAppVendor } from "../vendors/whatsapp-business.js"
import type { OpenSimulation, Simulation, SimulationOptions } from "./simulation.js"

function fail(sentence: string): never {
  throw new Error(sentence)
}

/** What a customer can do on each of Meta's messengers; `last` is the ID of the customer's last message. */
interface Actions {
  vendor: MetaVendor
  customer: Customer
  /** How the platform is connected. */
  messenger: string
  externalId: string
  credentials: Record<string, string>
  setHook(url: string): void
  /** Sends a message and returns its ID. */
  write(text: string, quoted?: string): string
  edit(last: string, text: string): void
  remove?(last: string): void
  file(upload: Upload): string
  location?(latitude: number, longitude: number): string
  tap(title: string): void
  read(message: Sent): void
  echo(text: string): void
}

/** A chat with the company in which the terminal is the customer's phone. */
async function simulationOf(actions: Actions, { port, hookUrl }: SimulationOptions, show: (line: string) => void): Promise<Simulation> {
  const { vendor, customer, messenger, externalId, credentials, remove, location } = actions
  await vendor.listen(port)
  if (hookUrl) actions.setHook(hookUrl)
  let last: string | null = null
  const written = () => last ?? fail("You have written nothing yet")
  const delivered = () => vendor.sent.at(-1) ?? fail("The company has sent nothing yet")
  vendor.onSent = ({ text, file, quoted }) => {
    const words = [quoted && "(an answer)", file && `[${file.filename}, ${file.bytes.length} bytes]`, text]
    show(words.filter(Boolean).join(" "))
  }
  const write = (make: () => string) => {
    if (!vendor.hookUrl()) fail("Name the platform's hook first, with :hook")
    last = make()
  }
  return {
    connection: { messenger, externalId, credentials, environment: { META_GRAPH_BASE_URL: vendor.server.url } },
    connected: actions.setHook,
    hooks: vendor.hooks,
    write: (text) => write(() => actions.write(text)),
    commands: {
      hook: {
        help: "URL: where the platform receives messages",
        run: (url) => actions.setHook(URL.canParse(url) ? url : fail("Write an absolute URL")),
      },
      edit: { help: "TEXT: changes the last message", run: (text) => actions.edit(written(), text) },
      ...(remove && { delete: { help: "deletes the last message", run: () => remove(written()) } }),
      reply: {
        help: "TEXT: quotes the company's last message",
        run: (text) => write(() => actions.write(text, delivered().id)),
      },
      tap: { help: "TITLE: taps on a button", run: (title) => actions.tap(title || fail("Write the button's title")) },
      ...(location && {
        location: {
          help: "LATITUDE LONGITUDE",
          run: (place: string) => {
            const [latitude = Number.NaN, longitude = Number.NaN] = place.split(/[\s,]+/).map(Number)
            if (Number.isNaN(latitude + longitude)) fail("Write two numbers, for example 50.45 30.52")
            write(() => location(latitude, longitude))
          },
        },
      }),
      file: {
        help: "PATH: sends a document",
        run: (path) => {
          const upload = { type: "application/octet-stream", filename: basename(path), bytes: readFileSync(path) }
          write(() => actions.file(upload))
        },
      },
      read: { help: "reads the company's last message", run: () => actions.read(delivered()) },
      echo: { help: "TEXT: a person of the company answers in Meta's app", run: (text) => actions.echo(text) },
      block: {
        help: "blocks the company",
        run: () => {
          vendor.customers.set(customer.id, { ...customer, isBlocked: true })
        },
      },
    },
    close: () => vendor.close(),
  }
}

/** A chat with a WhatsApp number. */
export const whatsappSimulation: OpenSimulation = (options, show) => {
  const { faults, secret } = options
  const vendor = new WhatsAppVendor({ faults, ...(secret && { appSecret: secret }) })
  const ada: Customer = { id: "380441234567", userId: "UA.13491208655302741918", name: "Ada" }
  const write = (fields: Fields) => idOf(vendor.write(ada, fields))
  const text = (body: string) => ({ type: "text", text: { body } })
  const actions: Actions = {
    vendor,
    customer: ada,
    messenger: "whatsapp-business",
    externalId: vendor.phoneNumberId,
    credentials: {
      ...{ accessToken: vendor.token, phoneNumberId: vendor.phoneNumberId },
      ...{ appSecret: vendor.appSecret, verifyToken: vendor.verifyToken },
    },
    setHook: (url) => {
      vendor.callbackUrl = url
    },
    write: (body, quoted) => write({ ...text(body), ...(quoted && { context: { id: quoted } }) }),
    edit: (last, body) => void write({ type: "edit", edit: { original_message_id: last, message: text(body) } }),
    remove: (last) => void write({ type: "revoke", revoke: { original_message_id: last } }),
    file: (upload) => write({ type: "document", document: { id: vendor.upload(upload), filename: upload.filename } }),
    location: (latitude, longitude) => write({ type: "location", location: { latitude, longitude } }),
    tap: (title) => void write({ type: "interactive", interactive: { type: "button_reply", button_reply: { id: "1", title } } }),
    read: (message) => void vendor.read(message),
    echo: (body) => void vendor.echo(ada.id, text(body)),
  }
  return simulationOf(actions, options, show)
}

const idOf = (event: Fields) =>
  (event as { entry: [{ changes: [{ value: { messages: [{ id: string }] } }] }] }).entry[0].changes[0].value.messages[0].id

/** A chat with a page of Messenger, or with an Instagram account. */
function messagingActions(vendor: MessagingVendor, messenger: string, externalId: string): Actions {
  const ada: Customer = { id: "1254459154682919", name: "Ada", username: "ada" }
  const write = (message: Fields) => {
    const { entry } = vendor.write(ada, message) as { entry: [{ messaging: [{ message: { mid: string } }] }] }
    return entry[0].messaging[0].message.mid
  }
  return {
    vendor,
    customer: ada,
    messenger,
    externalId,
    credentials: { pageAccessToken: vendor.token, appSecret: vendor.appSecret, verifyToken: vendor.verifyToken },
    setHook: (url) => {
      vendor.callbackUrl = url
      vendor.subscribed ??= ["messages"]
    },
    write: (text, quoted) => write({ text, ...(quoted && { reply_to: { mid: quoted } }) }),
    edit: (last, text) => void vendor.edit(ada.id, last, text),
    file: (upload) => write({ attachments: [vendor.attachment("file", upload)] }),
    tap: (title) => void vendor.tap(ada, title),
    read: (message) => void vendor.read(message),
    echo: (text) => void vendor.echo(ada.id, { text }),
  }
}

export const messengerSimulation: OpenSimulation = (options, show) => {
  const vendor = new MessengerVendor({ faults: options.faults, ...(options.secret && { appSecret: options.secret }) })
  return simulationOf(messagingActions(vendor, "messenger", vendor.pageId), options, show)
}

export const instagramSimulation: OpenSimulation = (options, show) => {
  const vendor = new InstagramVendor({ faults: options.faults, ...(options.secret && { appSecret: options.secret }) })
  const actions = messagingActions(vendor, "instagram", vendor.accountId)
  return simulationOf({ ...actions, remove: (last) => void vendor.remove(actions.customer.id, last) }, options, show)
}
