import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { Access, managedCompanies, mustManageIntegrations } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { EventWebhook } from "../entities/event-webhook.js"
import { changeEndpoint, checkedInput, createEndpoint } from "../event-webhooks/endpoints.js"
import { CreateEventWebhookInput, eventWebhookReadModel, UpdateEventWebhookInput } from "../schema/event-webhook.js"
import { CompanyArg, IdArg } from "../schema/kit/arguments.js"
import { DeleteResult, deleted, findToChange } from "../schema/kit/input.js"

const noun = "Event webhook"

/** Finds an endpoint to change; NOT_FOUND comes before FORBIDDEN. */
async function managed(context: RequestContext, id: string, input: object = {}): Promise<EventWebhook> {
  const webhook = await findToChange(context, EventWebhook, id, input, noun)
  mustManageIntegrations(context, webhook.companyId)
  return webhook
}

@Resolver()
export class EventWebhookResolver {
  @Access("company")
  @Query(() => [EventWebhook], { description: "Endpoints for events, newest first; for access tokens, owners and admins." })
  eventWebhooks(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @CompanyArg() companyId?: string) {
    return context.reader.list(
      eventWebhookReadModel,
      selectionOf(info),
      (query) => query.orderBy("t.created_at", "desc").orderBy("t.id", "desc"),
      managedCompanies(context, companyId),
    )
  }

  @Access("company")
  @Query(() => EventWebhook, { nullable: true, description: "An endpoint for events." })
  async eventWebhook(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo, @IdArg("endpoint") id: string) {
    const webhook = await context.one(eventWebhookReadModel, id, info, noun)
    mustManageIntegrations(context, webhook.companyId!)
    return webhook
  }

  @Access("company")
  @Mutation(() => EventWebhook, {
    description: "Creates an endpoint for the events from now on. Its secret is returned only in this response.",
  })
  async createEventWebhook(@Ctx() context: RequestContext, @Arg("input", () => CreateEventWebhookInput) input: CreateEventWebhookInput) {
    // A plain copy, because a planned read of the row could not find the secret again.
    return { ...(await createEndpoint(context, input)) }
  }

  @Access("company")
  @Mutation(() => EventWebhook, { description: "Changes an endpoint for events." })
  async updateEventWebhook(
    @Ctx() context: RequestContext,
    @IdArg("endpoint") id: string,
    @Arg("input", () => UpdateEventWebhookInput) input: UpdateEventWebhookInput,
  ) {
    const checked = checkedInput(context, input)
    return changeEndpoint(context, await managed(context, id, checked), checked)
  }

  @Access("company")
  @Mutation(() => DeleteResult, { description: "Deletes an endpoint for events, with its deliveries." })
  async deleteEventWebhook(@Ctx() context: RequestContext, @IdArg("endpoint") id: string) {
    return deleted(context, await managed(context, id))
  }

  @Access("company")
  @Mutation(() => EventWebhook, {
    description: "Gives an endpoint a new secret, returned only in this response. The one before signs too for 24 hours.",
  })
  async rotateEventWebhookSecret(@Ctx() context: RequestContext, @IdArg("endpoint") id: string) {
    const webhook = await managed(context, id)
    webhook.rotateSecret(context.services.secrets.encryptionKey)
    return { ...webhook }
  }
}
