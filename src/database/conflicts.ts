import { BadUserInput, Conflict } from "../errors/errors.js"

/** Error messages for violated unique indexes. The index decides, because a read before the write could race. */
const sentences: Record<string, string> = {
  chat_company_id_messenger_from_id_external_id_unique: "A chat for this customer exists already",
  chat_identity_company_id_messenger_from_id_external_id_unique: "Another chat has this ID of the customer",
  message_chat_id_external_id_unique: "This message is stored already",
  chat_tag_name_unique: "A tag with this name exists already",
  users_email_unique: "A user with this email exists",
  member_company_id_user_id_unique: "The user is already a member",
  channel_company_id_messenger_external_id_unique: "This account is connected already",
}

/** Unique indexes whose violation the contract calls a bad input. */
const badInputs: Record<string, { path: string; message: string }> = {
  assistant_tool_name_unique: { path: "name", message: "is taken by another tool of this assistant" },
}

/** Translates a violated constraint into an API error; returns any other error unchanged. */
export function constraintError(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause as unknown) {
    const { code, constraint } = cause as { code?: string; constraint?: string }
    if (code === "23505" && constraint && sentences[constraint]) return new Conflict(sentences[constraint])
    const bad = code === "23505" && constraint && badInputs[constraint]
    if (bad) return new BadUserInput(`${bad.path} ${bad.message}`, [bad])
    if (code === "23503" && constraint) return new BadUserInput("An object that the request refers to was deleted meanwhile")
    // MikroORM throws its own error and keeps the driver's as its cause.
    if (code === undefined && !cause.cause) return error
  }
  return error
}
