import { hash, verify } from "@node-rs/argon2"
import { codePoints } from "../../entities/kit/scalars.js"
import { BadUserInput } from "../../errors/errors.js"
import { resolverLimits } from "../limits.js"

let dummyHash: Promise<string> | undefined

/** Hashes a password with argon2id; throws when it is too short or too long. */
export async function hashPassword(password: string): Promise<string> {
  const length = codePoints(password)
  if (length < resolverLimits.passwordMin || length > resolverLimits.passwordMax)
    throw new BadUserInput(`The password must be ${resolverLimits.passwordMin} to ${resolverLimits.passwordMax} characters`)
  return hash(password)
}

/** Whether a password is correct; without a user it takes the same time, so that timing does not reveal who exists. */
export async function isCorrectPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  dummyHash ??= hash("nobody has this password")
  const isCorrect = await verify(passwordHash ?? (await dummyHash), password)
  return isCorrect && passwordHash !== undefined
}
