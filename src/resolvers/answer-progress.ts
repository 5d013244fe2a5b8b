import { Arg, Ctx, Resolver, Root, Subscription } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { UUID } from "../entities/kit/scalars.js"
import { Forbidden, NotFound } from "../errors/errors.js"
import type { Progress } from "../events/progress.js"
import { AnswerProgress } from "../schema/answer-progress.js"
import { chatReadModel } from "../schema/chat.js"

async function watch(context: RequestContext, chatId: string) {
  const { identity } = context
  if (identity.kind === "visitor" && identity.chatId !== chatId) throw new Forbidden("You have no access to this chat")
  if (!(await context.reader.byId(chatReadModel, chatId, {}))) throw new NotFound("Chat")
  return context.services.progress.watch(chatId)
}

@Resolver()
export class AnswerProgressResolver {
  @Access("visitor")
  @Subscription(() => AnswerProgress, {
    description: "Sends the text of an answer while the assistant writes it, a few times per second.",
    subscribe: (data) => watch(data.context as RequestContext, data.args["chatId"] as string) as never,
  })
  answerProgress(
    @Root() progress: Progress,
    @Ctx() context: RequestContext,
    @Arg("chatId", () => UUID, { description: "ID of the chat." }) _chatId: string,
  ) {
    // What a take-over may still drop has not been said: a visitor learns only that the assistant is writing.
    return context.identity.kind === "visitor" ? { ...progress, text: "" } : progress
  }
}
