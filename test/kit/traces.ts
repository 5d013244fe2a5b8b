import { readFileSync } from "node:fs"
import { filesBelow } from "./files.js"
import type { World } from "./world.js"

/** The tables that have a row with this text anywhere, in any column. */
export async function tablesWith({ sql }: Pick<World, "sql">, text: string): Promise<string[]> {
  const tables = await sql("select tablename as name from pg_tables where schemaname = 'public' order by 1")
  const found = await Promise.all(tables.map(({ name }) => sql(`select 1 from "${name}" t where t::text like '%' || $1 || '%'`, [text])))
  return tables.map(({ name }) => name as string).filter((_name, at) => found[at]!.length > 0)
}

/** The files below a folder that have this text in their content. */
export const filesWith = (folder: string, text: string): string[] => filesBelow(folder).filter((path) => readFileSync(path).includes(text))
