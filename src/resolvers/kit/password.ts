import { hash, verify } from "@node-rs/argon2"
import { codePoints } from "../../entities/kit/scalars.js"
import { BadUserInput } from "../../errors.js"
import { resolverLimits } from "../limits.js"

let decoy: Promise<string> | undefined

/** Hashes a password with argon2id; refuses one that is too short or too long. */
export async function hashPassword(password: string): Promise<string> {
  const length = codePoints(password)
  if (length < resolverLimits.passwordMin || length > resolverLimits.passwordMax)
    throw new BadUserInput(`The password must be ${resolverLimits.passwordMin} to ${resolverLimits.passwordMax} characters`)
  return hash(password)
}

/** Whether a password fits; takes the same time when there is no user to compare with. */
export async function passwordFits(passwordHash: string | undefined, password: string): Promise<boolean> {
  decoy ??= hash("nobody has this password")
  const fits = await verify(passwordHash ?? (await decoy), password)
  return fits && passwordHash !== undefined
}
