import pino from "pino"
import type { Config } from "../config/config.js"
import { loadSecrets } from "../config/secrets.js"
import { connect } from "../database/connect.js"
import { openEmbedded } from "../database/embedded/open.js"
import { migrate } from "../database/migrate.js"
import { embeddedPlaceOf, placeOf } from "../database/place.js"
import { postgresPublisher, redisWakeUp } from "../events/wake-up.js"
import { append } from "../messages/append.js"
import { snapshotOf } from "../rest/kit/representation.js"
import type { CommandContext } from "./kit.js"

/** Names the database that a command works on, without its password. */
export const databaseOf = ({ databaseUrl, dataDir }: Config): string => (databaseUrl ? placeOf(databaseUrl) : embeddedPlaceOf(dataDir))

/** Opens what a command uses, beside a running server or without one; the stack closes it. It never creates an embedded database. */
export async function openCommandContext(
  config: Config,
  stack: AsyncDisposableStack,
  action: string,
  warn: (line: string) => void,
): Promise<CommandContext> {
  const log = pino({ level: "silent" })
  const embedded = config.databaseUrl
    ? null
    : await openEmbedded({ dataDir: config.dataDir, role: "command", mustExist: true, log: () => {} })
  if (embedded) stack.defer(() => embedded.stop())
  const url = config.databaseUrl ?? embedded!.url
  const database = await connect(url)
  stack.defer(() => database.close())
  await migrate(database)
  const redis = config.redisUrl ? await redisWakeUp(config.redisUrl, log) : null
  stack.defer(() => redis?.close())
  const wakeUp = redis ?? postgresPublisher(database.pool)
  const secrets = await loadSecrets(config)
  // Most commands show no row: loading the schema would double their time.
  const loadReadModels = () => import("../graphql/schema.js")
  return { config, database, wakeUp, secrets, warn, action, snapshotOf, loadReadModels, append }
}
