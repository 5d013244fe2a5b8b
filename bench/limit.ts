import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import pg from "pg"
import { v7 } from "uuid"
import { chatPage, json, messageFields, messagePage, storeMessage } from "./statements.js"

/**
 * LIMIT: what can be had at all. A bare node:http server with one prepared statement per workload, the answer's JSON built by PostgreSQL,
 * nobody asked who they are.
 */
const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 10 })
const companyId = process.env["COMPANY_ID"]

const statements = {
  createMessage: { name: "w5", text: storeMessage("$1::uuid", "$2", "$3", `(${json("made", messageFields)})::text as body`) },
  chats: { name: "w1", text: chatPage() },
  chatsAfter: { name: "w6", text: chatPage("(recency, id) < ($2::timestamptz, $3::uuid)") },
  messages: { name: "w2", text: messagePage },
}

async function answer(request: IncomingMessage): Promise<string> {
  const url = new URL(request.url!, "http://limit")
  if (request.method === "POST") {
    const { chatId, text } = JSON.parse(await bodyOf(request))
    return run(statements.createMessage, [v7(), chatId, text])
  }
  if (url.pathname === "/messages") return run(statements.messages, [url.searchParams.get("chatId")])
  const after = url.searchParams.get("after")
  if (!after) return run(statements.chats, [companyId])
  const [id, recency] = [after.slice(after.lastIndexOf(" ") + 1), after.slice(0, after.lastIndexOf(" "))]
  return run(statements.chatsAfter, [companyId, recency, id])
}

async function run(statement: { name: string; text: string }, values: unknown[]): Promise<string> {
  const { rows } = await pool.query({ ...statement, values })
  return rows[0].body
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

const server = createServer((request, response) => {
  answer(request).then(
    (body) => send(response, 200, body),
    (error: unknown) => send(response, 500, JSON.stringify({ error: String(error) })),
  )
})
server.listen(Number(process.env["PORT"]), "127.0.0.1")
