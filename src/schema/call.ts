import { Field, InputType } from "type-graphql"
import { computed, readModel } from "../database/read-model.js"
import { Call } from "../entities/call.js"
import { JSONValue, PhoneNumber, UUID } from "../entities/kit/scalars.js"
import { words } from "../entities/kit/words.js"
import { pageOf } from "./kit/page.js"

export const callReadModel = readModel("Call", {
  workflowId: computed([], ({ id }) => id),
  success: computed([], () => true),
  recordingUrl: {
    needs: ["recordingId"],
    load: (rows, reader) => rows.map(({ recordingId }) => (recordingId ? reader.mediaUrl(recordingId) : null)),
  },
})

export const CallPage = pageOf(Call, "calls")

export const CallSortEnum = words("CallSort", "Sort key of calls.", {
  callDate: "When the call was accepted.",
  duration: "Duration; calls without one are last.",
})

@InputType({ description: "The call to make." })
export class OriginateCallInput {
  @Field(() => PhoneNumber, { description: "Telephone number of the customer." })
  phoneNumber!: string

  @Field(() => UUID, {
    nullable: true,
    description:
      "ID of an assistant of the same company, whose voice provider and telephone number call. Default: the assistant that speaks.",
  })
  callerAssistantId?: string | null

  @Field(() => JSONValue, {
    nullable: true,
    description:
      "Values for placeholders, {{name}}, of the prompt and the first message, for this call only: at most 100 names with text, numbers, booleans or null.",
  })
  dynamicVariables?: unknown

  @Field(() => String, {
    nullable: true,
    description: "Idempotency key: a repetition of the request with the same key within 24 hours returns the first response.",
  })
  idempotencyKey?: string | null
}
