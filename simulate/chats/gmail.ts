import { readFileSync } from "node:fs"
import { basename } from "node:path"
import { GmailVendor, type WrittenMail } from "../vendors/gmail.js"
import type { OpenSimulation } from "./simulation.js"

/** A mailbox of Gmail: a line is a mail in the last thread. */
export const gmailSimulation: OpenSimulation = async ({ faults, port }, show) => {
  const vendor = await new GmailVendor({ faults }).listen(port)
  let last: { subject: string; inReplyTo?: string; references?: string[] } = { subject: "Hello" }
  const write = (written: WrittenMail, labels?: string[]) => void vendor.write({ ...last, ...written }, labels)
  vendor.onSent = ({ email: { subject = "", text = "", attachments, messageId, references = "" } }) => {
    const known = references.split(/\s+/).filter(Boolean)
    last = { subject, ...(messageId && { inReplyTo: messageId, references: [...known, messageId] }) }
    show([`(${subject})`, ...attachments.map(({ filename }) => `[${filename}]`), text.trim()].join(" "))
  }
  return {
    connection: {
      messenger: "gmail",
      externalId: vendor.address,
      credentials: vendor.credentials,
      environment: { GMAIL_BASE_URL: vendor.server.url, GOOGLE_OAUTH_BASE_URL: vendor.server.url },
    },
    hooks: null,
    write: (text) => write({ text }),
    commands: {
      subject: {
        help: "TEXT: begins another thread with the next mail",
        run: (subject) => {
          last = { subject }
        },
      },
      away: {
        help: "TEXT: an automatic answer",
        run: (text) => write({ text, headers: { "Auto-Submitted": "auto-replied" } }),
      },
      file: {
        help: "PATH: sends an attachment",
        run: (path) =>
          write({ files: [{ filename: basename(path), contentType: "application/octet-stream", content: readFileSync(path) }] }),
      },
      operator: {
        help: "TEXT: a person of the company answers in Gmail",
        run: (text) => write({ text, from: vendor.address, to: "ada@example.org" }, ["SENT"]),
      },
      forget: { help: "Gmail forgets its history", run: () => vendor.forgetHistory() },
      expire: { help: "ends the access token", run: () => vendor.expireToken() },
    },
    close: () => vendor.close(),
  }
}
