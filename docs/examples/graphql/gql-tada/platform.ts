import type { TadaDocumentNode } from "gql.tada"
import { print } from "graphql"

/** The address of the server, and an access token of a company. */
export const { PLATFORM_URL: url = "http://127.0.0.1:4000", PLATFORM_TOKEN: token = "" } = process.env

/** Sends an operation; returns its data, or throws the errors of the response. */
export async function execute<Data, Variables>(document: TadaDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Access-Token": token },
    body: JSON.stringify({ query: print(document), variables }),
  })
  const { data, errors } = (await response.json()) as { data?: Data | null; errors?: { message: string }[] }
  if (!data) throw new Error(errors?.map(({ message }) => message).join("\n") ?? `HTTP status ${response.status}`)
  return data
}
