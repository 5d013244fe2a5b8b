/** The same address on the server that the page came from, which may have several names. */
export function here(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}
