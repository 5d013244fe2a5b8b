import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { Assistant } from "../entities/assistant.js"
import { UUID } from "../entities/kit/scalars.js"
import { McpServer } from "../entities/mcp-server.js"
import { NotFound } from "../errors/errors.js"
import { setMcpTools } from "../mcp-servers/enable.js"
import { createServer, deleteServer, refreshServer, updateServer } from "../mcp-servers/servers.js"
import { assistantReadModel } from "../schema/assistant.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted } from "../schema/kit/input.js"
import { CreateMcpServerInput, McpToolInput, mcpServerReadModel, UpdateMcpServerInput } from "../schema/mcp-server.js"

const noun = "MCP server"

/** The optional argument `companyId` of a root field about one server, for paths that name its company. */
const OfCompanyArg = () =>
  Arg("companyId", () => UUID, { nullable: true, description: "ID of the server's company; another one is refused. Default: any." })

@Resolver()
export class McpServerResolver {
  @Access("company")
  @Query(() => [McpServer], { description: "MCP servers, newest first, without their credentials." })
  mcpServers(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @CompanyArg() companyId?: string) {
    return context.reader.list(
      mcpServerReadModel,
      selectionOf(info),
      (query) => query.orderBy("t.created_at", "desc").orderBy("t.id", "desc"),
      context.reach(companyId),
    )
  }

  @Access("company")
  @Query(() => McpServer, { nullable: true, description: "An MCP server, without its credentials." })
  async mcpServer(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @IdArg("MCP server") id: string,
    @OfCompanyArg() companyId?: string | null,
  ) {
    const reach = context.reach(companyId)
    const server = await context.one(mcpServerReadModel, id, info, noun)
    if (!reach.includes(server.companyId!)) throw new NotFound(noun)
    return server
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => McpServer, {
    description: "Creates an MCP server and lists its tools. One that cannot be listed is stored, too: its status says why.",
  })
  async createMcpServer(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("input", () => CreateMcpServerInput) input: CreateMcpServerInput,
  ) {
    return context.one(mcpServerReadModel, await createServer(context, input), info, noun)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => McpServer, {
    description: "Changes an MCP server. Its tools are listed again when its URL or its credentials are given.",
  })
  async updateMcpServer(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @IdArg("MCP server") id: string,
    @Arg("input", () => UpdateMcpServerInput) input: UpdateMcpServerInput,
    @OfCompanyArg() companyId?: string | null,
  ) {
    await updateServer(context, id, input, companyId)
    return context.one(mcpServerReadModel, id, info, noun)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => McpServer, { description: "Lists the tools of an MCP server now, besides each hour." })
  async refreshMcpServer(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @IdArg("MCP server") id: string,
    @OfCompanyArg() companyId?: string | null,
  ) {
    await refreshServer(context, id, companyId)
    return context.one(mcpServerReadModel, id, info, noun)
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes an MCP server, its tools of all assistants and the log of their calls." })
  async deleteMcpServer(@Ctx() context: RequestContext, @IdArg("MCP server") id: string, @OfCompanyArg() companyId?: string | null) {
    return deleted(context, await deleteServer(context, id, companyId))
  }

  @Access("company")
  @Mutation(() => Assistant, {
    description:
      "Enables exactly these tools of MCP servers for an assistant, at most 40, each as its server describes it now, and switches all others off.",
  })
  async setAssistantMcpTools(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("assistantId", () => UUID, { description: "ID of the assistant." }) assistantId: string,
    @Arg("tools", () => [McpToolInput], { description: "The tools to enable." }) tools: McpToolInput[],
  ) {
    await setMcpTools(context, assistantId, tools)
    await context.unit.flush()
    return context.one(assistantReadModel, assistantId, info)
  }
}
