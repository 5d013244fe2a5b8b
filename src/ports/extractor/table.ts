/** Whether a row is a header: several different names, none of them a number. */
const isHeader = (row: string[]) =>
  row.length > 1 && row.every((cell) => cell !== "" && !/^[\d\s.,%€$£-]+$/.test(cell)) && new Set(row).size === row.length

/**
 * Converts a table to one line per row. Below a header row each line contains the column names, because a search finds lines without the
 * rest of the table.
 */
export function tableText(rows: string[][]): string {
  const filled = rows.filter((row) => row.some((cell) => cell !== ""))
  const [names = [], ...rest] = filled
  if (rest.length === 0 || !isHeader(names)) return filled.map((row) => `- ${row.filter((cell) => cell !== "").join(" | ")}`).join("\n")
  const named = (row: string[]) => row.flatMap((cell, index) => (cell === "" ? [] : [names[index] ? `${names[index]}: ${cell}` : cell]))
  return rest.map((row) => `- ${named(row).join("; ")}`).join("\n")
}
