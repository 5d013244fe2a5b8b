import { Field, ObjectType } from "type-graphql"
import { AssistantTool, type McpToolState, McpToolStateEnum } from "./assistant-tool.js"
import { JSONValue } from "./kit/scalars.js"
import { McpServer } from "./mcp-server.js"

@ObjectType({ description: "A tool of an MCP server, as it stands for one assistant." })
export class AssistantMcpTool {
  @Field(() => McpServer, { description: "The MCP server." })
  server!: McpServer

  @Field(() => String, { description: "Name of the tool at its server." })
  name!: string

  @Field(() => String, { nullable: true, description: "Name of the tool for people." })
  title!: string | null

  @Field(() => String, { description: "What the tool does, as its server describes it now." })
  description!: string

  @Field(() => JSONValue, { description: "Arguments of the tool as its server describes them now: a JSON Schema." })
  inputSchema!: Record<string, unknown>

  @Field(() => McpToolStateEnum, { description: "Where the tool stands for the assistant." })
  state!: McpToolState

  @Field(() => String, { nullable: true, description: "Why the tool cannot be enabled; null when it can." })
  fault!: string | null

  @Field(() => String, {
    description: "Fingerprint of description and arguments; with it, setAssistantMcpTools enables exactly what was read.",
  })
  digest!: string

  @Field(() => String, {
    nullable: true,
    description:
      "Digest of what was accepted when the tool was enabled; with it, setAssistantMcpTools leaves a tool that has changed as it is. Null when it was never enabled.",
  })
  acceptedDigest!: string | null

  @Field(() => AssistantTool, {
    nullable: true,
    description:
      "The tool of the assistant, with the description and the arguments that were accepted, and the log of its calls; null when it was never enabled.",
  })
  tool!: AssistantTool | null
}
