/** Whether a row names the columns of those below it: several names, each once, none of them a number. */
const isHeader = (row: string[]) =>
  row.length > 1 && row.every((cell) => cell !== "" && !/^[\d\s.,%€$£-]+$/.test(cell)) && new Set(row).size === row.length

/**
 * A table with a line for each row. Under a row of names each line says what its values are, so that it is understood alone: a search finds
 * lines, not tables.
 */
export function tableText(rows: string[][]): string {
  const filled = rows.filter((row) => row.some((cell) => cell !== ""))
  const [names = [], ...rest] = filled
  if (rest.length === 0 || !isHeader(names)) return filled.map((row) => `- ${row.filter((cell) => cell !== "").join(" | ")}`).join("\n")
  const named = (row: string[]) => row.flatMap((cell, index) => (cell === "" ? [] : [names[index] ? `${names[index]}: ${cell}` : cell]))
  return rest.map((row) => `- ${named(row).join("; ")}`).join("\n")
}
