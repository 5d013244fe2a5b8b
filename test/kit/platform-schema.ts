import { MikroORM } from "@mikro-orm/postgresql"
import mapper from "../../mikro-orm.config.js"
import { buildPlatformSchema } from "../../src/graphql/schema.js"

/** The server's schema without a database, for tests whose names contain its types and fields. */
export const platformSchema = buildPlatformSchema(await MikroORM.init(mapper))
