import { BadUserInput, Conflict } from "../errors.js"

/** What a violated unique index means to the caller. The index decides, not a read before the write. */
const sentences: Record<string, string> = {
  chat_company_id_messenger_from_id_external_id_unique: "A chat for this customer exists",
  chat_tag_name_unique: "A tag with this name exists",
  users_email_unique: "A user with this email exists",
  member_company_id_user_id_unique: "The user is a member already",
  channel_company_id_messenger_external_id_unique: "This account is connected already",
}

/** The same, where the contract calls it a bad input. */
const badInputs: Record<string, { path: string; message: string }> = {
  assistant_tool_name_unique: { path: "name", message: "is taken by another tool of this assistant" },
}

/** Turns a violated constraint into the API error that it means; returns any other error unchanged. */
export function meaningOf(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause as unknown) {
    const { code, constraint } = cause as { code?: string; constraint?: string }
    if (code === "23505" && constraint && sentences[constraint]) return new Conflict(sentences[constraint])
    const bad = code === "23505" && constraint && badInputs[constraint]
    if (bad) return new BadUserInput(`${bad.path} ${bad.message}`, [bad])
    if (code === "23503" && constraint) return new BadUserInput("Something this request names was deleted meanwhile")
    // The mapper throws its own error and keeps the driver's beside it.
    if (code === undefined && !cause.cause) return error
  }
  return error
}
