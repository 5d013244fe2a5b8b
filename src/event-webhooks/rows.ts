/** Columns of a new delivery, in the order of `valuesOf`. */
export const columns = `id, created_at, updated_at, company_id, webhook_id, event_id, position, chat_id, type, snapshot, event_created_at, due_at,
    requested_at, retry_at`

/** A UUID of version 7 from the clock of the database, as the ids of all rows are. */
const newId = `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
    substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`

/** The ID of an event of the log, as `eventCursor()` makes it. */
const eventId = (event: string) => `rtrim(translate(encode(convert_to('e:' || ${event}.position, 'UTF8'), 'base64'), '+/', '-_'), '=')`

/** Expressions of SQL for the delivery of an event of the log to an endpoint. */
export const valuesOf = ({
  now,
  event: e,
  webhook: w,
  requestedAt,
  retryAt,
}: Record<"now" | "event" | "webhook" | "requestedAt" | "retryAt", string>) =>
  `${newId}, ${now}::timestamptz, ${now}::timestamptz, ${e}.company_id, ${w}.id, ${eventId(e)}, ${e}.position, ${e}.chat_id, ${e}.type, ${e}.payload,
    ${e}.created_at, ${now}::timestamptz, ${requestedAt}::timestamptz, ${retryAt}::timestamptz`
