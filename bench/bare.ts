import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import pg from "pg"

/** The queries of a bare server; each returns JSON. */
export interface Answers {
  latest(companyId: string): Promise<string>
  after(companyId: string, recency: string, id: string): Promise<string>
  filtered(companyId: string, messenger: string, tagIds: string[]): Promise<string>
  /** `pattern` is the LIKE pattern of the search. */
  found(companyId: string, pattern: string): Promise<string>
  messages(chatId: string): Promise<string>
  createMessage(chatId: string, text: string): Promise<string>
}

/**
 * The name under which a statement is prepared. A search has none: it is planned for its term each time, because a frequent term is found by
 * reading the list, and a rare one by its trigrams.
 */
export const preparedAs = (name: string) => (name === "found" ? undefined : name)

/** The pool of a bare server. */
export const openPool = (types?: pg.CustomTypesConfig) => new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 10, types })

/** Serves on plain node:http, without authentication. */
export function serve(answers: Answers) {
  const companyId = process.env["COMPANY_ID"]!
  const server = createServer((request, response) => {
    answerOf(answers, companyId, request).then(
      (body) => send(response, 200, body),
      (error: unknown) => send(response, 500, JSON.stringify({ error: String(error) })),
    )
  })
  server.listen(Number(process.env["PORT"]), "127.0.0.1")
}

async function answerOf(answers: Answers, companyId: string, request: IncomingMessage): Promise<string> {
  if (request.method === "POST") {
    const { chatId, text } = JSON.parse(await bodyOf(request))
    return answers.createMessage(chatId, text)
  }
  const { pathname, searchParams } = new URL(request.url!, "http://bare")
  if (pathname === "/messages") return answers.messages(searchParams.get("chatId")!)
  const [after, term, messenger] = ["after", "term", "messenger"].map((name) => searchParams.get(name))
  if (after) return answers.after(companyId, after.slice(0, after.lastIndexOf(" ")), after.slice(after.lastIndexOf(" ") + 1))
  if (term) return answers.found(companyId, `%${term}%`)
  if (messenger) return answers.filtered(companyId, messenger, searchParams.get("tags")!.split(","))
  return answers.latest(companyId)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

function send(response: ServerResponse, status: number, body: string) {
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) })
  response.end(body)
}
