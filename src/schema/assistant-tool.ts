import { Field, InputType, Int } from "type-graphql"
import { computed, readModel } from "../database/read-model.js"
import {
  AssistantTool,
  type AssistantToolType,
  AssistantToolTypeEnum,
  type HttpMethod,
  HttpMethodEnum,
} from "../entities/assistant-tool.js"
import { JSONValue, Trimmed, UUID, Verbatim } from "../entities/kit/scalars.js"
import { BadUserInput, type Detail } from "../errors/errors.js"
import { pageOf } from "./kit/page.js"
import { schemaLimits } from "./limits.js"

export const assistantToolReadModel = readModel("AssistantTool", {
  hasWebhookSecret: computed(["sealedSecret"], ({ sealedSecret }) => sealedSecret !== null),
})
export const AssistantToolPage = pageOf(AssistantTool, "tools")

const ToolName = Trimmed({ max: schemaLimits.toolName })
const ToolDescription = Trimmed({ max: schemaLimits.toolDescription })

@InputType()
abstract class AssistantToolFields {
  @Field(() => JSONValue, {
    nullable: true,
    description:
      "Arguments of the tool: a JSON Schema of type object, at most 64 KB, 10 levels and 200 subschemas, without patterns of exponential cost. Default: no arguments.",
  })
  params?: Record<string, unknown> | null

  @Field(() => AssistantToolTypeEnum, { nullable: true, description: "When the tool is called, and by whom. Default: WEBHOOK_ACTION." })
  type?: AssistantToolType | null

  @Field(() => Trimmed({ min: 0, max: schemaLimits.toolUrl }), {
    nullable: true,
    description: "URL of the endpoint: absolute, http or https. Another origin deletes the secret, unless the request sets one.",
  })
  apiCallUrl?: string | null

  @Field(() => HttpMethodEnum, { nullable: true, description: "HTTP method of the request. Default: POST." })
  httpMethod?: HttpMethod | null

  @Field(() => Int, { nullable: true, description: "Time limit of a call, 1 to 60 seconds. Default: 10." })
  timeoutSeconds?: number | null

  @Field(() => Verbatim(schemaLimits.toolSecret), {
    nullable: true,
    description: "Secret with which requests are signed; null removes it.",
  })
  webhookSecret?: string | null

  @Field(() => Boolean, { nullable: true, description: "Whether the tool is switched off." })
  disabled?: boolean | null
}

@InputType({ description: "The tool to create." })
export class CreateAssistantToolInput extends AssistantToolFields {
  @Field(() => UUID, { description: "ID of the assistant that gets the tool." })
  assistantId!: string

  @Field(() => ToolName, { description: "Name of the tool, visible to the assistant: letters, digits, _ and -." })
  name!: string

  @Field(() => ToolDescription, { description: "What the tool does and when to use it; visible to the assistant." })
  description!: string
}

@InputType({ description: "The fields of a tool to change." })
export class UpdateAssistantToolInput extends AssistantToolFields {
  @Field(() => ToolName, { nullable: true, description: "Name of the tool, visible to the assistant: letters, digits, _ and -." })
  name?: string | null

  @Field(() => ToolDescription, { nullable: true, description: "What the tool does and when to use it; visible to the assistant." })
  description?: string | null
}

/** Checks what scalars cannot; `faultOfParams` returns the error of a JSON Schema, or null. */
export async function checkTool(input: UpdateAssistantToolInput, faultOfParams: (params: unknown) => Promise<string | null>) {
  const details: Detail[] = []
  const refuse = (path: string, message: string | null | undefined) => message && details.push({ path, message })
  const { name, type, apiCallUrl, timeoutSeconds, webhookSecret, params } = input
  if (type === "mcp")
    refuse(
      "type",
      "must be another one: tools of MCP servers are enabled with PUT /api/assistants/{assistantId}/mcp-tools or setAssistantMcpTools",
    )
  if (name != null && !/^[A-Za-z0-9_-]+$/.test(name)) refuse("name", "must be letters, digits, _ and - only")
  if (apiCallUrl) refuse("apiCallUrl", faultOfUrl(apiCallUrl))
  const { toolTimeoutMinSeconds: min, toolTimeoutMaxSeconds: max } = schemaLimits
  if (timeoutSeconds != null && (timeoutSeconds < min || timeoutSeconds > max)) refuse("timeoutSeconds", `must be ${min} to ${max}`)
  // The secret is sent as a header.
  if (webhookSecret === "") refuse("webhookSecret", "must not be empty; null removes it")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  else if (webhookSecret && /[\u0000-\u001f\u007f]|^ | $/.test(webhookSecret))
    refuse("webhookSecret", "must not contain control characters, or begin or end with a space")
  if (params != null) refuse("params", await faultOfParams(params))
  if (details.length > 0) throw new BadUserInput(details.map((detail) => `${detail.path} ${detail.message}`).join("; "), details)
}

function faultOfUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text)) return "must be an absolute http or https URL"
  if (url.username || url.password) return "must not contain a user name or password; use webhookSecret instead"
  return null
}
