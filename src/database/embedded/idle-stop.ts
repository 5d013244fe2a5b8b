import pg from "pg"
import type { Home } from "./home.js"
import { superuserUrl } from "./roles.js"

/** Name of the session, by which the next start and the session itself find it. */
const SESSION = "platform-idle-stop"

const POLL_SECONDS = 5
const IDLE_SECONDS = 50
const TIMEOUT_MS = 10_000

/**
 * Runs in PostgreSQL itself, so that no process of ours must survive: looks at the other sessions, and stops the database when there was none
 * for a while. It commits after each look, and works in another database than the platform's, so that it keeps no old row versions there.
 */
const WATCH = `DO $$
  DECLARE idle integer := 0;
  BEGIN
    LOOP
      PERFORM pg_sleep(${POLL_SECONDS});
      IF EXISTS (SELECT FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender') AND application_name <> '${SESSION}')
        THEN idle := 0;
        ELSE idle := idle + ${POLL_SECONDS};
      END IF;
      COMMIT;
      EXIT WHEN idle >= ${IDLE_SECONDS};
    END LOOP;
    RAISE LOG 'nobody has used this database for ${IDLE_SECONDS} seconds: it stops';
    EXECUTE format('COPY (SELECT) TO PROGRAM %L', 'kill -INT ' || split_part(pg_read_file('postmaster.pid'), E'\\n', 1));
  END $$`

/**
 * Makes a running database stop within a minute of its last session, as when a server was killed and none is started any more. A session of
 * an earlier start is ended, so that a full minute begins; when it is stopping the database at this moment, this connection fails, or the next one.
 */
export async function stopWhenIdle(home: Home, port: number): Promise<void> {
  // There is no program `kill`.
  if (process.platform === "win32") return
  const [watcher, checker] = [sessionOf(home, port), sessionOf(home, port)]
  try {
    await Promise.all([watcher.connect(), checker.connect()])
    await checker.query(`SELECT pg_terminate_backend(pid, ${TIMEOUT_MS}) FROM pg_stat_activity WHERE ${isWatching}`)
    // The session goes on without its client. Its end, at each stop, is one line of the log.
    await watcher.query("SET client_connection_check_interval = 0; SET log_min_error_statement = panic")
    watcher.query(WATCH).catch(() => {})
    while ((await checker.query(`SELECT FROM pg_stat_activity WHERE ${isWatching}`)).rowCount === 0);
  } finally {
    await Promise.all([watcher.end(), checker.end()])
  }
}

const isWatching = `application_name = '${SESSION}' AND state = 'active' AND query LIKE 'DO%'`

function sessionOf(home: Home, port: number): pg.Client {
  const connectionString = superuserUrl(home.memory, port, "postgres")
  const client = new pg.Client({ connectionString, ssl: false, connectionTimeoutMillis: TIMEOUT_MS, application_name: SESSION })
  // A lost connection also rejects the running statement.
  client.on("error", () => {})
  return client
}
