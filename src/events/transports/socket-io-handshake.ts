import type { Socket } from "socket.io"
import type { Credentials } from "../../context/authenticate.js"
import { companiesOf, type Identity } from "../../context/identity.js"
import { isUuid } from "../../entities/kit/scalars.js"
import { BadUserInput, Forbidden } from "../../errors/errors.js"
import { readEventCursor } from "../logged-event.js"

/** What a client sent to connect. */
type Handshake = Pick<Socket["handshake"], "auth" | "headers">

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null)

/** The credentials of a handshake: in `auth` an access token or a JWT, else headers. */
export function credentialsOf({ auth, headers }: Handshake): Credentials {
  const given = text(auth["token"]) ?? text(auth["accessToken"])
  if (given) return { authorization: `Bearer ${given}` }
  return { accessToken: text(headers["x-access-token"]), authorization: text(headers.authorization) }
}

/** A company's ID that a client gave; null without one. */
export function companyIdIn(given: unknown): string | null {
  if (given == null || given === "") return null
  if (!isUuid(given)) throw new BadUserInput("companyId must be a UUID", [{ path: "companyId", message: "must be a UUID" }])
  return given.toLowerCase()
}

/** The company whose events a socket gets. */
export function companyOf(identity: Identity, given: unknown): string {
  const reach = companiesOf(identity)
  const asked = companyIdIn(given)
  if (asked) {
    if (!reach.includes(asked)) throw new Forbidden("You have no access to this company")
    return asked
  }
  if (reach.length > 1)
    throw new BadUserInput("companyId is required with more than one company", [
      { path: "companyId", message: "is required with more than one company" },
    ])
  if (!reach[0]) throw new Forbidden("You are a member of no company")
  return reach[0]
}

/** The cursor after which the events of a socket begin; null for new events only. */
export function cursorOf(given: unknown): string | null {
  if (given == null || given === "") return null
  if (typeof given !== "string")
    throw new BadUserInput("lastEventId must be the id of an event", [{ path: "lastEventId", message: "must be a string" }])
  readEventCursor(given, "lastEventId")
  return given
}
