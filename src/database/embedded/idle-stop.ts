import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import type { Home } from "./home.js"
import { superuserUrl } from "./roles.js"

/** Name of the session, by which the next start and the session itself find it. */
const SESSION = "platform-idle-stop"

/** How long a database without sessions goes on running. */
export const IDLE_SECONDS = 50
const POLL_SECONDS = 5
const TIMEOUT_MS = 10_000
const STEP_MS = 20

/** No setting of the operator may end the session, or hide it from the next start. */
const SETTINGS = `SET client_connection_check_interval = 0; SET statement_timeout = 0; SET transaction_timeout = 0; SET track_activities = on;
  SET log_min_error_statement = panic`

/**
 * Runs in PostgreSQL itself, so that no process of ours must survive: looks at the other sessions, and stops the database when there was none
 * for a while. It commits after each look, and works in another database than the platform's, so that it keeps no old row versions there.
 */
const watch = (idleSeconds: number) => `DO $$
  DECLARE idle integer := 0;
  BEGIN
    LOOP
      PERFORM pg_sleep(${Math.min(POLL_SECONDS, idleSeconds)});
      IF EXISTS (SELECT FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender') AND application_name <> '${SESSION}')
        THEN idle := 0;
        ELSE idle := idle + ${Math.min(POLL_SECONDS, idleSeconds)};
      END IF;
      COMMIT;
      EXIT WHEN idle >= ${idleSeconds};
    END LOOP;
    RAISE LOG 'nobody has used this database for ${idleSeconds} seconds: it stops';
    EXECUTE format('COPY (SELECT) TO PROGRAM %L', 'kill -INT ' || split_part(pg_read_file('postmaster.pid'), E'\\n', 1));
  END $$`

/**
 * Makes a running database stop within a minute of its last session, as when a server was killed and none is started any more. A session of
 * an earlier start is ended, so that a full minute begins; when it is stopping the database at this moment, this connection fails, or the next one.
 */
export async function stopWhenIdle(home: Home, port: number, idleSeconds = IDLE_SECONDS): Promise<void> {
  // There is no program `kill`.
  if (process.platform === "win32") return
  const [watcher, checker] = [sessionOf(home, port), sessionOf(home, port)]
  const isWatching = `application_name = '${SESSION}' AND query LIKE 'DO%'`
  try {
    await Promise.all([watcher.connect(), checker.connect()])
    await checker.query(`SELECT pg_terminate_backend(pid, ${TIMEOUT_MS}) FROM pg_stat_activity WHERE ${isWatching}`)
    // The session goes on without its client. Its end, at each stop, is one line of the log.
    await watcher.query(SETTINGS)
    watcher.query(watch(idleSeconds)).catch(() => {})
    const deadline = performance.now() + TIMEOUT_MS
    while ((await checker.query(`SELECT FROM pg_stat_activity WHERE ${isWatching}`)).rowCount === 0 && performance.now() < deadline)
      await sleep(STEP_MS)
  } finally {
    await Promise.all([watcher.end(), checker.end()])
  }
}

function sessionOf(home: Home, port: number): pg.Client {
  const connectionString = superuserUrl(home.memory, port, "postgres")
  const client = new pg.Client({ connectionString, ssl: false, connectionTimeoutMillis: TIMEOUT_MS, application_name: SESSION })
  // A lost connection also rejects the running statement.
  client.on("error", () => {})
  return client
}
