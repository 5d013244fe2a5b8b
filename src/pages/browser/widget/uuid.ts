/** A random UUID, also on pages without HTTPS. */
export function uuid(): string {
  if (crypto.randomUUID) return crypto.randomUUID()
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0"))
  return bytes.join("")
}
