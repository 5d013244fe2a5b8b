import { Unauthenticated } from "../errors.js"
import { authenticate, type Credentials } from "./authenticate.js"
import { credentialOf, type Identity } from "./identity.js"
import { addressKey } from "./rate-limit.js"
import type { RequestInfo } from "./request-context.js"
import type { Services } from "./services.js"

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
