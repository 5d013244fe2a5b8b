import { Arg, Ctx, Resolver, Root, Subscription } from "type-graphql"
import type { Viewer } from "../context/request-context.js"
import { UUID } from "../entities/kit/scalars.js"
import { NotFound } from "../errors.js"
import type { Progress } from "../events/progress.js"
import { Access } from "../graphql/access.js"
import { AnswerProgress } from "../schema/answer-progress.js"
import { chatSource } from "../schema/chat.js"

async function watch(viewer: Viewer, chatId: string) {
  if (!(await viewer.freshReader().byId(chatSource, chatId, {}))) throw new NotFound("Chat")
  return viewer.services.progress.watch(chatId)
}

@Resolver()
export class AnswerProgressResolver {
  @Access("company")
  @Subscription(() => AnswerProgress, {
    description: "How far the assistant's running answers in a chat have come, a few times a second, from whichever instance makes them.",
    subscribe: (data) => watch(data.context as Viewer, data.args["chatId"] as string) as never,
  })
  answerProgress(
    @Root() progress: Progress,
    @Ctx() _viewer: Viewer,
    @Arg("chatId", () => UUID, { description: "The chat." }) _chatId: string,
  ) {
    return progress
  }
}
