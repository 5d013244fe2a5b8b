import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { startArguments, startEnvironment } from "../scripts/start-arguments.js"
import { connect } from "../src/database/connect.js"
import { recall } from "../src/database/embedded/home.js"
import { openEmbedded } from "../src/database/embedded/open.js"
import { superuserUrl } from "../src/database/embedded/roles.js"
import { migrate } from "../src/database/migrate.js"
import { AccessToken } from "../src/entities/access-token.js"
import { cores, end, freePort, pinPostgres, postmasterOf, root, startNode, untilAnswers } from "./processes.js"

const data = join(fileURLToPath(new URL(".", import.meta.url)), "data")

/** A server on a database of its own. */
export interface FreshServer<Filled> {
  url: string
  pid: number
  postmaster: number | null
  client: pg.Client
  filled: Filled
}

/** Creates a database, fills it and starts the server on it; the stack ends both. */
export async function freshServer<Filled>(
  stack: AsyncDisposableStack,
  name: string,
  say: (line: string) => void,
  fill: (client: pg.Client) => Promise<Filled>,
): Promise<FreshServer<Filled>> {
  const embedded = await openEmbedded({ dataDir: data, role: "command", log: say })
  stack.defer(() => embedded.stop())
  const superuser = superuserUrl(recall(data)!)
  const databaseUrl = Object.assign(new URL(superuser), { pathname: `/bench_${name}` }).href
  const admin = new pg.Client({ connectionString: superuser })
  await admin.connect()
  await admin.query(`drop database if exists bench_${name} with (force)`)
  await admin.query(`create database bench_${name}`)
  const postmaster = postmasterOf((await admin.query("select pg_backend_pid() as pid")).rows[0].pid)
  if (postmaster) pinPostgres(postmaster, cores.rest)
  await admin.end()
  const database = await connect(databaseUrl)
  await migrate(database)
  await database.close()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  stack.defer(() => client.end())
  const filled = await fill(client)
  const port = await freePort()
  const server = startNode(cores.server, startArguments(root), {
    ...startEnvironment(root),
    NODE_ENV: "production",
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(data, name),
    PORT: String(port),
    HOST: "127.0.0.1",
    JWT_SECRET: randomBytes(32).toString("hex"),
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
    LOG_LEVEL: "warn",
    RATE_LIMIT_PER_MINUTE: "0",
  })
  stack.defer(() => end(server))
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(server, `${url}/health/ready`)
  return { url, pid: server.pid!, postmaster, client, filled }
}

/** Issues an access token of a company, and returns its value. */
export async function tokenOf(client: pg.Client, companyId: string): Promise<string> {
  const token = AccessToken.issue(companyId, "bench", null)
  await client.query(
    "insert into access_token (id, created_at, updated_at, company_id, name, token_prefix, digest) values ($1, now(), now(), $2, $3, $4, $5)",
    [token.id, companyId, token.name, token.tokenPrefix, token.digest],
  )
  return token.token!
}
