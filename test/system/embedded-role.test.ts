import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { PostgresBackend } from "@agendajs/postgres-backend"
import pg from "pg"
import { connect } from "../../src/database/connect.js"
import { installBinaries } from "../../src/database/embedded/binaries.js"
import { binariesFolder, type Memory, openHome, recall } from "../../src/database/embedded/home.js"
import { initialise } from "../../src/database/embedded/init.js"
import { openEmbedded } from "../../src/database/embedded/open.js"
import { stopPostmaster } from "../../src/database/embedded/postmaster.js"
import { SERVER_ROLE, SUPERUSER, superuserUrl } from "../../src/database/embedded/roles.js"
import { findOrStart } from "../../src/database/embedded/start.js"
import { migrate } from "../../src/database/migrate.js"
import { promised } from "../kit/promise.js"
import { openTransaction } from "../kit/transaction.js"
import { happens, until } from "../kit/wait.js"

const folders: string[] = []
const children: ChildProcess[] = []
const open = (dataDir: string) => openEmbedded({ dataDir, role: "server", log() {} })

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "embedded-role-")))
  chmodSync(made, 0o755)
  folders.push(made)
  return made
}

// biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
async function ask(url: string, text: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client.query(text).then(
    ({ rows }) => client.end().then(() => rows),
    (error) => client.end().then(() => Promise.reject(error)),
  )
}

const asSuperuser = (dataDir: string) => superuserUrl(recall(dataDir)!)

/** The owner of everything in the database that is neither part of initdb nor of an extension, with the number of its objects. */
const OWNERS = `
  select owner::regrole::text, count(*)::integer as count from (
    select 'pg_class'::regclass as catalog, oid, relowner as owner from pg_class where relkind <> 't'
    union all select 'pg_proc', oid, proowner from pg_proc
    union all select 'pg_type', oid, typowner from pg_type
    union all select 'pg_namespace', oid, nspowner from pg_namespace where nspname !~ '^pg_'
  ) object
  where oid >= 16384 and not exists (select from pg_depend d where d.classid = catalog and d.objid = oid and d.deptype = 'e')
    and not exists (select from pg_type a join pg_type t on t.oid = a.typelem join pg_depend d on d.objid = t.oid and d.deptype = 'e'
                    where catalog = 'pg_type'::regclass and a.oid = object.oid and d.classid = 'pg_type'::regclass)
  group by 1`

/** Objects of the kinds that no migration makes, as an operator may have added them. */
const OTHER_OBJECTS = `
  create schema "Own schema";
  create type "Own schema".mood as enum ('good', 'bad');
  create type "Own schema".pair as (a int, b text);
  create domain "Own schema".positive as int check (value > 0);
  create type "Own schema".span as range (subtype = int);
  create table "Own schema"."A ""table" (id serial primary key, other int generated always as identity, mood "Own schema".mood);
  create table "Own schema".parts (id int) partition by range (id);
  create table "Own schema".part partition of "Own schema".parts for values from (0) to (10);
  create view "Own schema".seen as select id from "Own schema"."A ""table";
  create materialized view "Own schema".stored as select 1 as one;
  create sequence "Own schema".counter;
  create function "Own schema".twice(x int, y text default '') returns int language sql return x * 2;
  create procedure "Own schema".nothing() language sql as '';
  create aggregate "Own schema".total(int) (sfunc = int4pl, stype = int, initcond = '0');
  insert into "Own schema"."A ""table" (mood) values ('good')`

/** A DATA_DIR as versions made it whose server was the superuser: initdb and all migrations by that role; stopped. */
async function formerFolder(): Promise<string> {
  const dataDir = folder()
  const found = openHome(dataDir)
  const home = { ...found, binaries: await installBinaries(binariesFolder(found)) }
  await initialise(home)
  const { port } = await findOrStart(home)
  const database = await connect(superuserUrl(home.memory, port))
  await migrate(database)
  await new PostgresBackend({ pool: database.pool }).connect()
  await database.pool.query(OTHER_OBJECTS)
  await database.close()
  await stopPostmaster(home.data)
  const { serverPassword, ...memory } = recall(dataDir)!
  writeFileSync(join(dataDir, "postgres.json"), JSON.stringify(memory))
  return dataDir
}

/** Fails unless the server's role owns the database and everything in it, and has no other right. */
async function expectServerRole(url: string) {
  const [role] = await ask(
    url,
    `select current_user as name, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
            (select count(*)::integer from pg_auth_members where member = pg_roles.oid) as memberships,
            (select datdba::regrole::text from pg_database where datname = current_database()) as owner
     from pg_roles where rolname = session_user`,
  )
  const no = { rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolreplication: false, rolbypassrls: false }
  expect(role).toEqual({ name: SERVER_ROLE, ...no, memberships: 0, owner: SERVER_ROLE })
}

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  for (const dataDir of folders) {
    await stopPostmaster(recall(dataDir)?.data ?? join(dataDir, "postgres"))
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
})

describe("a new database", () => {
  let dataDir: string
  let url: string
  beforeAll(async () => {
    dataDir = folder()
    url = (await open(dataDir)).url
    const database = await connect(url)
    await migrate(database)
    await database.close()
  })

  it("is owned by a role that is no superuser, and so is everything in it", async () => {
    await expectServerRole(url)
    expect(await ask(url, OWNERS)).toEqual([{ owner: SERVER_ROLE, count: expect.any(Number) }])
  })

  it.each([
    ["copy chat from program 'id'", "permission denied to COPY to or from an external program"],
    ["copy chat from '/etc/passwd'", "permission denied to COPY from a file"],
    ["select pg_read_file('/etc/passwd')", "permission denied for function pg_read_file"],
    ["select pg_ls_dir('/')", "permission denied for function pg_ls_dir"],
    ["select lo_import('/etc/passwd')", "permission denied for function lo_import"],
    ["select rolpassword from pg_authid", "permission denied for table pg_authid"],
    ["create role other", "permission denied to create role"],
    [`alter role ${SERVER_ROLE} superuser`, "permission denied to alter role"],
    [`alter role ${SUPERUSER} password 'x'`, "permission denied to alter role"],
    [`set role ${SUPERUSER}`, "permission denied to set role"],
    ["create database other", "permission denied to create database"],
    ["alter system set fsync = off", "permission denied to set parameter"],
    ["set session_replication_role = replica", "permission denied to set parameter"],
    ["create function f() returns int language c as 'x', 'y'", "permission denied for language c"],
  ])("refuses %s", async (text, refusal) => {
    await expect(ask(url, text)).rejects.toThrow(refusal)
  })

  it("trusts nobody without a password, and keeps both passwords in a private file", async () => {
    const rules = await ask(asSuperuser(dataDir), "select distinct auth_method as method, error from pg_hba_file_rules")
    expect(rules).toEqual([{ method: "scram-sha-256", error: null }])
    expect(statSync(join(dataDir, "postgres.json")).mode & 0o777).toBe(0o600)
    const { password, serverPassword } = recall(dataDir)!
    expect(password).not.toBe(serverPassword)
    await expect(ask(asSuperuser(dataDir).replace(password, serverPassword), "select 1")).rejects.toThrow("password authentication failed")
  })

  it("takes the password of postgres.json again, as after its restore from a backup of an earlier version", async () => {
    const { serverPassword, ...older } = recall(dataDir)!
    writeFileSync(join(dataDir, "postgres.json"), JSON.stringify(older))
    const command = await openEmbedded({ dataDir, role: "command", log() {} })
    expect(command.url).not.toBe(url)
    expect(new URL(command.url).password).not.toBe(serverPassword)
    await expectServerRole(command.url)
    await command.stop()
  })
})

describe("a database whose server was the superuser", () => {
  it("changes its owner at the next start, with everything in it, and keeps its rows", async () => {
    const dataDir = await formerFolder()
    const { url, stop } = await open(dataDir)
    await expectServerRole(url)
    expect(await ask(url, OWNERS)).toEqual([{ owner: SERVER_ROLE, count: expect.any(Number) }])
    expect(await ask(url, `select id, other, mood from "Own schema"."A ""table"`)).toEqual([{ id: 1, other: 1, mood: "good" }])
    const database = await connect(url)
    await migrate(database)
    await database.close()
    // What only an owner may do.
    await ask(url, `alter table chat add column extra int; drop index chat_search; drop schema "Own schema" cascade`)
    await stop()
  })

  it("gives over what an earlier version has created since", async () => {
    const dataDir = folder()
    const first = await open(dataDir)
    await ask(asSuperuser(dataDir), "create table later (id serial)")
    await first.stop()
    const { url, stop } = await open(dataDir)
    expect(await ask(url, OWNERS)).toEqual([{ owner: SERVER_ROLE, count: expect.any(Number) }])
    await stop()
  })

  promised("stays as it was when the process is killed in between, and the next start completes the change", async () => {
    const dataDir = await formerFolder()
    const keeper = await runningFormer(dataDir)
    await using blocker = await openTransaction(keeper)
    // The change waits for this lock, in the middle of its statements.
    await blocker.query("select from media limit 1")
    const child = spawn(process.execPath, ["--input-type=module", "-e", OPENER, dataDir], { stdio: ["ignore", "inherit", "inherit"] })
    children.push(child)
    const waiting = `select query from pg_stat_activity where wait_event_type = 'Lock' and query ~* 'alter table .*media'`
    await until("the change waits for the lock", async () => (await ask(keeper, waiting)).length > 0)
    child.kill("SIGKILL")
    await happens("the process has ended", once(child, "exit"))
    await blocker.rollback()
    await until("the statement of the killed process has ended", async () => (await ask(keeper, waiting)).length === 0)
    expect(await ask(keeper, OWNERS)).toEqual([{ owner: SUPERUSER, count: expect.any(Number) }])
    expect(await ask(keeper, `select from pg_roles where rolname = '${SERVER_ROLE}'`)).toEqual([])
    const { url, stop } = await open(dataDir)
    await expectServerRole(url)
    expect(await ask(url, OWNERS)).toEqual([{ owner: SERVER_ROLE, count: expect.any(Number) }])
    await stop()
  })
})

/** A process that opens a DATA_DIR. */
const OPENER = `
  import { openEmbedded } from ${JSON.stringify(pathToFileURL(join(process.cwd(), "dist/src/database/embedded/open.js")).href)}
  await openEmbedded({ dataDir: process.argv[1], role: "server", log() {} })
`

/** Starts the database alone, as a killed server of an earlier version leaves it; returns the superuser's address. */
async function runningFormer(dataDir: string): Promise<string> {
  const memory: Memory = JSON.parse(readFileSync(join(dataDir, "postgres.json"), "utf8"))
  const found = openHome(dataDir)
  const { port } = await findOrStart({ ...found, binaries: await installBinaries(binariesFolder(found)) })
  return superuserUrl(memory, port)
}
