import { Unauthenticated } from "../errors/errors.js"
import { authenticate, type Credentials } from "./authenticate.js"
import { turnOf } from "./fair-turns.js"
import { credentialOf, type Identity } from "./identity.js"
import { addressKey } from "./rate-limit.js"
import type { OperationReads } from "./read-budget.js"
import type { RequestInfo } from "./request-context.js"
import type { Services } from "./services.js"

/** Waits for the turn of an operation; returns what counts its reads, and how to tell that its response has left. `address` is the client's. */
export async function beginOperation(
  { turns, reads }: Pick<Services, "turns" | "reads">,
  identity: Identity,
  address: string,
): Promise<{ reads: OperationReads; end: () => void }> {
  const turn = turnOf(identity, address)
  const endTurn = await turns.enter(...turn)
  const operation = reads.begin(...turn)
  const end = () => {
    endTurn()
    operation.end()
  }
  return { reads: operation.reads, end }
}

/** Authenticates a request and counts it under its rate limit; throws 401 for bad credentials and 429 beyond the limit. */
export async function admit(
  services: Pick<Services, "database" | "log" | "secrets" | "limits">,
  credentials: Credentials,
  { address, headers }: Pick<RequestInfo, "address" | "headers">,
): Promise<Identity> {
  const { limits } = services
  let identity: Identity
  try {
    identity = await authenticate(services, credentials)
  } catch (error) {
    // Counted like none: otherwise a stranger would avoid the limit with credentials of no one.
    if (error instanceof Unauthenticated) await limits.address.count(addressKey(address), headers)
    throw error
  }
  const credential = credentialOf(identity)
  if (credential) await limits.credential.count(credential, headers)
  else await limits.address.count(addressKey(address), headers)
  return identity
}
