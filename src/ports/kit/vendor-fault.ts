import { APICallError } from "ai"

/** A vendor's failure as one short sentence that is safe to log, and its HTTP status if there is one. */
export function vendorFault(error: unknown, vendor: string, apiKey: string | undefined): { message: string; status: number | null } {
  const words = harmless(error instanceof Error ? error.message : String(error), apiKey)
  if (!APICallError.isInstance(error)) return { message: `${vendor} failed: ${words}`, status: null }
  const { statusCode } = error
  if (statusCode === undefined) return { message: `${vendor} could not be reached: ${words}`, status: null }
  if (statusCode < 300) return { message: `${vendor} sent an answer that cannot be read`, status: statusCode }
  return { message: `${vendor} answered ${statusCode}: ${words}`, status: statusCode }
}

// Error messages of vendors may contain keys ("Incorrect API key provided: sk-…"), and a URL may contain a password.
function harmless(words: string, apiKey: string | undefined) {
  const shown = apiKey ? words.replaceAll(apiKey, "[key]") : words
  return shown
    .replace(/\b(?:sk|pk|key)-[\w*.-]+/gi, "[key]")
    .replace(/\/\/[^/\s@]+@/g, "//[key]@")
    .replace(/\s+/g, " ")
    .slice(0, 200)
}
