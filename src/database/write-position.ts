/** SQL: since when the server that answers runs, in seconds since 1970. */
export const runningSince = "extract(epoch from pg_postmaster_start_time())::text as running_since"

/**
 * SQL that stores up to where PostgreSQL's log of writes (WAL) has what is committed now; `keys` is a query of `key`. In their order, so that two instances
 * that note the same do not wait for each other in a circle.
 */
export const notePosition = (keys: string) => `
  insert into write_position as known (key, position, written_at)
  select key, pg_current_wal_insert_lsn(), now() from (${keys}) each order by key
  on conflict (key) do update set position = excluded.position, written_at = excluded.written_at where known.position < excluded.position`

/** SQL columns: the furthest position of these keys, and since when the server runs that knows it. */
export const positionOfKeys = (keys: string) =>
  `(select max(position) from write_position where key in (${keys})) as position, ${runningSince}`
