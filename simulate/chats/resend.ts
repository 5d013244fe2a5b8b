import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { ResendVendor, type WrittenMail } from "../vendors/resend.js"
import type { OpenSimulation } from "./simulation.js"

/** Mail over Resend: a line is a mail in the last thread. */
export const resendSimulation: OpenSimulation = async ({ faults, port, hookUrl }, show) => {
  const vendor = await new ResendVendor({ faults }).listen(port)
  if (hookUrl) vendor.addWebhook(hookUrl)
  const secret = vendor.webhooks[0]?.signing_secret
  let subject = "Hello"
  const write = (written: WrittenMail) => {
    const last = vendor.sent.at(-1)
    const references = last && `${last.headers["References"] ?? ""} ${last.messageId}`.trim()
    const headers = last && references && { "in-reply-to": last.messageId, references }
    vendor.write({ subject: last?.subject ?? subject, ...(headers && { headers }), ...written })
  }
  const lastSent = () => vendor.sent.at(-1) ?? fail("Nothing was sent yet")
  vendor.onSent = ({ subject, text, files }) =>
    show([`(${subject})`, ...files.map(({ filename, bytes }) => `[${filename}, ${bytes.length} bytes]`), text].join(" "))
  return {
    connection: {
      messenger: "resend",
      externalId: "support@shop.example",
      credentials: { apiKey: vendor.apiKey, from: "Shop <support@shop.example>", ...(secret && { webhookSecret: secret }) },
      environment: { RESEND_BASE_URL: vendor.server.url },
    },
    hooks: vendor.hooks,
    write: (text) => write({ text }),
    commands: {
      subject: {
        help: "TEXT: begins another thread with the next mail",
        run: (text) => {
          subject = text
          vendor.sent.length = 0
        },
      },
      away: {
        help: "TEXT: an automatic answer",
        run: (text) => void vendor.write({ text, subject: "Out of office", headers: { "auto-submitted": "auto-replied" } }),
      },
      file: {
        help: "PATH: sends an attachment",
        run: (path) => write({ files: [{ filename: basename(path), contentType: "application/octet-stream", bytes: readFileSync(path) }] }),
      },
      delivered: { help: "reports the last mail as delivered", run: () => void vendor.report("email.delivered", lastSent()) },
      bounce: {
        help: "TEXT: reports the last mail as returned, for this reason",
        run: (message) => void vendor.report("email.bounced", lastSent(), { bounce: { message, type: "Permanent", subType: "General" } }),
      },
    },
    close: () => vendor.close(),
  }
}

function fail(sentence: string): never {
  throw new Error(sentence)
}
