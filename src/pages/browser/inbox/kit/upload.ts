import { uploadOperation } from "./plain-operations.js"
import { fetchSignedIn } from "./session.js"
import { t } from "./words.js"

/** Uploads a file, by the multipart request of GraphQL; the same key gives the same file. Returns its ID; throws an `Error` with the server's sentence. */
export async function upload(companyId: string, file: File, key: string): Promise<string> {
  const form = new FormData()
  form.append("operations", JSON.stringify({ query: uploadOperation, variables: { companyId, file: null, key } }))
  form.append("map", JSON.stringify({ 0: ["variables.file"] }))
  form.append("0", file)
  const response = await fetchSignedIn("/graphql", { method: "POST", body: form })
  // A proxy in front may refuse a large file, in words of its own.
  const { data, errors } = await response.json().catch(() => ({}))
  if (!data?.uploadMedia) throw new Error(errors?.[0]?.message ?? t("The file was not uploaded. Try again."))
  return data.uploadMedia.id
}
