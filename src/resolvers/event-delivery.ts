import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Int, Mutation, Query, Resolver } from "type-graphql"
import { Access, mustManageIntegrations } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { Narrow } from "../database/read-model.js"
import { type EventType, EventTypeEnum } from "../entities/event.js"
import { EventDelivery, type EventDeliveryStatus, EventDeliveryStatusEnum } from "../entities/event-delivery.js"
import { DateTime, UUID } from "../entities/kit/scalars.js"
import { NotFound } from "../errors/errors.js"
import { redeliverEvent, redeliverEvents } from "../event-webhooks/redeliver.js"
import { testEndpoint } from "../event-webhooks/test.js"
import { EventDeliveryPage, eventDeliveryReadModel } from "../schema/event-delivery.js"
import { eventWebhookReadModel, RedeliverEventsResult } from "../schema/event-webhook.js"
import { IdArg } from "../schema/kit/arguments.js"
import { offsetPage } from "../schema/kit/page.js"
import { resolverLimits } from "./limits.js"

/** Throws unless the endpoint exists and the caller may manage it. */
async function mustManage(context: RequestContext, id: string) {
  const webhook = await context.reader.byId(eventWebhookReadModel, id, {})
  if (!webhook) throw new NotFound("Event webhook")
  mustManageIntegrations(context, webhook.companyId!)
}

@Resolver()
export class EventDeliveryResolver {
  @Access("company")
  @Query(() => EventDeliveryPage, { description: "Deliveries of events to an endpoint, newest first, without their payloads." })
  async eventDeliveries(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("webhookId", () => UUID, { description: "ID of the endpoint." }) webhookId: string,
    @Arg("status", () => EventDeliveryStatusEnum, { nullable: true, description: "Returns only deliveries in this state." })
    status?: EventDeliveryStatus,
    @Arg("type", () => EventTypeEnum, { nullable: true, description: "Returns only events of this type." }) type?: EventType,
    @Arg("skip", () => Int, { nullable: true, description: "Number of items to skip." }) skip?: number,
    @Arg("take", () => Int, { nullable: true, description: "Number of items per page, 1 to 100. Default: 20." }) take?: number,
  ) {
    const filter: Narrow<"EventDelivery"> = (query) => {
      const found = query.where("t.webhook_id", "=", webhookId)
      const ofStatus = status ? found.where("t.status", "=", status) : found
      return type ? ofStatus.where("t.type", "=", type) : ofStatus
    }
    const order: Narrow<"EventDelivery"> = (query) =>
      query.orderBy("t.created_at", "desc").orderBy("t.position", "desc").orderBy("t.id", "desc")
    const paging = { skip, take, defaultTake: resolverLimits.pageDefault }
    const [page] = await Promise.all([
      offsetPage(context.reader, eventDeliveryReadModel, selectionOf(info), paging, filter, order),
      mustManage(context, webhookId),
    ])
    return page
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => EventDelivery, {
    description: "Sends an event once more, now, with the same ID; scheduled attempts go on until one succeeds.",
  })
  async redeliverEvent(
    @Ctx() context: RequestContext,
    @Arg("webhookId", () => UUID, { description: "ID of the endpoint." }) webhookId: string,
    @Arg("deliveryId", () => UUID, { description: "ID of the delivery." }) deliveryId: string,
  ) {
    await mustManage(context, webhookId)
    return redeliverEvent(context, webhookId, deliveryId)
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => RedeliverEventsResult, {
    description:
      "Sends the events of a time range once more, and those that were never sent: while the endpoint was disabled, and before it was created.",
  })
  async redeliverEvents(
    @Ctx() context: RequestContext,
    @Arg("webhookId", () => UUID, { description: "ID of the endpoint." }) webhookId: string,
    @Arg("since", () => DateTime, { description: "Time of the first event to send." }) since: Date,
    @Arg("until", () => DateTime, { nullable: true, description: "Time before which the events were. Default: now." }) until?: Date | null,
    @Arg("onlyFailed", () => Boolean, {
      nullable: true,
      description: "Whether to send only events whose delivery has failed, and those that were never sent. Default: false.",
    })
    onlyFailed?: boolean | null,
  ) {
    await mustManage(context, webhookId)
    return { count: await redeliverEvents(context, webhookId, { since, until: until ?? null, onlyFailed: onlyFailed ?? false }) }
  }

  @Access("company", { transaction: "manual" })
  @Mutation(() => EventDelivery, {
    description: "Sends a signed test event to an endpoint, once, and returns its delivery with the response.",
  })
  async testEventWebhook(@Ctx() context: RequestContext, @IdArg("endpoint") id: string) {
    await mustManage(context, id)
    return testEndpoint(context, id)
  }
}
