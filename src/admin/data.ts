import { resolve } from "node:path"
import type { Command } from "./kit.js"
import { companyOf } from "./people.js"

const company = { company: { required: true, description: "the company's id" } }
const customer = { customer: { required: true, description: "the customer's id on the channel, phone number or user name" } }
const file = { file: { required: true, description: "the file to write, or to continue" } }
const named =
  "A customer is named by the id on the channel (externalId), the phone number or the user name of private chats, on all channels."

/** Commands that export data, delete a company, and erase a customer's. What they run is loaded on demand, since it would slow all other commands. */
export const dataCommands: Record<string, Command> = {
  "company:export": {
    does: "Writes everything that a company owns to a file in JSON Lines, and its uploaded files beside it. Run again with the same file, it continues.",
    options: { ...company, ...file },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const { exportTo } = await import("./export.js")
      return exportTo(desk, { command: "company:export", companyId, customer: null }, resolve(options["file"]!))
    },
  },
  "company:delete": {
    does: "Deletes a company with everything that it owns, and the users who are members of no other one, for good, also while the server runs. Run again, it completes what an interruption has left.",
    options: { ...company, name: { required: true, description: "the company's name, so that no other one is deleted by mistake" } },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!, options["name"])
      const { deleteCompany } = await import("./delete-company.js")
      return deleteCompany(desk, companyId)
    },
  },
  "customer:export": {
    does: `Writes the chats of one customer like company:export. ${named}`,
    options: { ...company, ...customer, ...file },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const { exportTo } = await import("./export.js")
      return exportTo(desk, { command: "customer:export", companyId, customer: options["customer"]! }, resolve(options["file"]!))
    },
  },
  "customer:erase": {
    does: `Deletes the chats of one customer with everything in them, for good, also while the server runs. ${named}`,
    options: { ...company, ...customer },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const { eraseCustomer } = await import("./erase.js")
      return eraseCustomer(desk, companyId, options["customer"]!)
    },
  },
}
