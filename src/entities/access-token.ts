import { createHash, randomInt } from "node:crypto"
import { crc32 } from "node:zlib"
import { Entity, Index, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { BadUserInput } from "../errors/errors.js"
import { Audited } from "./kit/audited.js"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"
import { DateTime, UUID } from "./kit/scalars.js"
import { entityLimits } from "./limits.js"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

function base62(value: number, digits: number) {
  let text = ""
  for (let rest = value; text.length < digits; rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return text
}

const checksum = (body: string) => base62(crc32(body), 6)

/** The first characters of every token. */
export const tokenStart = "amp_"

/** Generates a token: `amp_`, 36 random base62 characters, `_`, and the CRC-32 of the 40 before it (contract, section 2). */
function newTokenValue(): string {
  const body = `${tokenStart}${Array.from({ length: 36 }, () => alphabet[randomInt(62)]).join("")}`
  return `${body}_${checksum(body)}`
}

/** Checks the format and the checksum of a token, without a database query. */
export const looksLikeToken = (value: string) =>
  /^amp_[0-9A-Za-z]{36}_[0-9A-Za-z]{6}$/.test(value) && checksum(value.slice(0, 40)) === value.slice(41)

/** The SHA-256 digest of a token in hex; the database stores only the digest. */
export const tokenDigest = (value: string) => createHash("sha256").update(value).digest("hex")

@ObjectType({ description: "A long-lived credential of one company, for integrations." })
@Entity()
@Audited<AccessToken>({ internal: ["digest", "tokenPrefix", "createdBy", "lastUsedAt"] })
export class AccessToken extends CompanyOwned {
  @Field(() => String, { description: "Display name." })
  @Property({ type: "text" })
  name!: string

  @Field(() => String, { description: "First 12 characters of the token, for recognition." })
  @Property({ type: "text" })
  tokenPrefix!: string

  @Property({ type: "text", hidden: true })
  @Unique()
  digest!: string

  @Field(() => DateTime, {
    nullable: true,
    description: "Time of the last use, accurate to the minute; null if the token was never used.",
  })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  lastUsedAt: Date | null = null

  @Field(() => UUID, { nullable: true, description: "ID of the user who created the token; null when it was created on the command line." })
  @Property({ type: "uuid", nullable: true })
  @Index()
  createdBy: string | null = null

  @Field(() => DateTime, { nullable: true, description: "Time of revocation; null while the token is valid." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  revokedAt: Date | null = null

  @Field(() => DateTime, { nullable: true, description: "Time from which the token is refused; null if it does not expire." })
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  expiresAt: Date | null = null

  @Field(() => Boolean, { description: "Whether the token is refused by every mutation and by every REST method except GET and HEAD." })
  @Property({ type: "boolean", default: false })
  readOnly: boolean = false

  @Field(() => String, { nullable: true, description: "Full value of the token; returned only by createAccessToken, otherwise null." })
  token?: string

  /** Creates a token. Only the returned object holds its value; the database stores its digest. */
  static issue(
    companyId: string,
    name: string,
    createdBy: string | null,
    { expiresAt, readOnly }: { expiresAt?: Date | null | undefined; readOnly?: boolean | null | undefined } = {},
  ) {
    if (expiresAt && expiresAt <= clock.now())
      throw new BadUserInput("expiresAt must be in the future", [{ path: "expiresAt", message: "must be in the future" }])
    const token = new AccessToken()
    token.companyId = companyId
    token.name = name
    token.createdBy = createdBy
    token.expiresAt = expiresAt ?? null
    token.readOnly = readOnly ?? false
    token.token = newTokenValue()
    token.tokenPrefix = token.token.slice(0, entityLimits.tokenPrefixLength)
    token.digest = tokenDigest(token.token)
    return token
  }

  /** Revokes the token permanently. */
  revoke() {
    this.revokedAt ??= clock.now()
  }
}
