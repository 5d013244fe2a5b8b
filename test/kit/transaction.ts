import pg from "pg"
import { happens } from "./wait.js"

/** A transaction of its own connection, which keeps its locks until it ends. */
export interface OpenTransaction extends AsyncDisposable {
  // biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount: number | null }>
  commit(): Promise<void>
  rollback(): Promise<void>
}

/**
 * Begins a transaction that a test ends itself. A test that fails before leaves no lock behind: the end of its scope rolls back.
 * @example await using other = await openTransaction(w.databaseUrl); await other.query("lock table chat"); await other.commit()
 */
export async function openTransaction(databaseUrl: string): Promise<OpenTransaction> {
  const client = new pg.Client({ connectionString: databaseUrl })
  // A test may end the connection in the database.
  client.on("error", () => {})
  await client.connect()
  await client.query("begin")
  let isOpen = true
  const end = async (statement?: string) => {
    if (!isOpen) return
    isOpen = false
    try {
      if (statement) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  return {
    query: (text, values) => happens(`the test's transaction has done: ${text.slice(0, 200)}`, client.query(text, values)),
    commit: () => end("commit"),
    rollback: () => end("rollback"),
    [Symbol.asyncDispose]: () => end(),
  }
}
