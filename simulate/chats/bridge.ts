import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { type BridgeMessage, BridgeVendor } from "../vendors/bridge.js"
import type { OpenSimulation } from "./simulation.js"

const chat = { externalId: "ada", name: "Ada" }

/** A chat over a connector of the bridge. */
export const bridgeSimulation: OpenSimulation = async ({ faults, port, hookUrl, secret }, show) => {
  const vendor = await new BridgeVendor({ faults, ...(secret && { secret }) }).listen(port)
  vendor.hook = hookUrl
  let last: BridgeMessage | null = null
  const write = (message: Partial<BridgeMessage>) => {
    if (!vendor.hook) fail("Name the platform's hook first, with :hook")
    last = vendor.write({ chat, ...message })
  }
  const lastDelivered = () => vendor.delivered.at(-1) ?? fail("Nothing was delivered yet")
  vendor.onDelivered = ({ text, media, replyToMessageId }) => {
    const words = [
      replyToMessageId && `(about message ${replyToMessageId})`,
      ...media.map(({ filename, url }) => `[${filename} ${url}]`),
      text,
    ]
    show(words.filter(Boolean).join(" "))
  }
  return {
    connection: {
      messenger: "custom-messenger",
      externalId: "stand-in",
      credentials: { deliveryUrl: vendor.deliveryUrl, secret: vendor.secret },
      environment: { ALLOW_PRIVATE_NETWORK: "true" },
    },
    connected: (url) => {
      vendor.hook = url
    },
    hooks: vendor.hooks,
    write: (text) => write({ text }),
    commands: {
      hook: {
        help: "URL: where the platform receives messages",
        run: (url) => {
          vendor.hook = URL.canParse(url) ? url : fail("Write an absolute URL")
        },
      },
      edit: {
        help: "TEXT: changes the last message",
        run: (text) =>
          void vendor.send({ event: "edit", messageId: (last ?? fail("You have written nothing yet")).messageId, text }, "ada"),
      },
      delete: {
        help: "deletes the last message",
        run: () => void vendor.send({ event: "delete", messageId: (last ?? fail("You have written nothing yet")).messageId }, "ada"),
      },
      reply: {
        help: "TEXT: quotes the last message that was delivered",
        run: (text) => write({ text, replyToMessageId: lastDelivered().externalId }),
      },
      read: {
        help: "reads the last message that was delivered",
        run: () => void vendor.send({ event: "receipt", externalId: lastDelivered().externalId, status: "read" }, "ada"),
      },
      echo: {
        help: "TEXT: a person of the company answers outside of the platform",
        run: (text) => void vendor.send({ event: "echo", messageId: crypto.randomUUID(), chat, text }, "ada"),
      },
      file: {
        help: "PATH: sends a file",
        run: (path) => write({ media: [vendor.upload(readFileSync(path), basename(path), "application/octet-stream")] }),
      },
    },
    close: () => vendor.close(),
  }
}

function fail(sentence: string): never {
  throw new Error(sentence)
}
