import type { Config } from "../config.js"
import type { Services } from "../context/services.js"
import type { Demo } from "./demo.js"

/** Lines that the terminal shows once the server listens: its addresses, its configuration, and how to try it. */
export function welcome(config: Config, url: string, services: Services, demo: Demo | null): string[] {
  const { embedding } = services
  const [model] = services.models
  return [
    "",
    `Listening on ${url}`,
    `  GraphiQL      ${url}/graphql`,
    `  REST docs     ${url}/api/docs`,
    `  Database      ${config.databaseUrl ? "as DATABASE_URL says" : `embedded PostgreSQL in ${config.dataDir}`}`,
    `  Text model    ${model!.name}${model!.provider === "offline" ? " (built in: it quotes the assistant's knowledge; set OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one)" : ""}`,
    `  Embedding     ${embedding.id}${config.embedding ? "" : " (built in: it compares words, not meanings; set EMBEDDING_API_KEY for a real one)"}`,
    `  Voice         ${services.voices.map(({ name }) => name).join(", ")}${services.voices.length > 1 ? "" : " (built in: it calls nobody)"}`,
    ...(demo ? tryIt(url, demo) : []),
    "",
  ]
}

/** Three commands to paste: ask as a customer, watch the answer arrive, take over. */
function tryIt(url: string, demo: Demo): string[] {
  const json = "-H 'Content-Type: application/json'"
  const token = `-H 'X-Access-Token: ${demo.token}'`
  return [
    "",
    `A demo company is ready; sign in as ${demo.email} with the password ${demo.password}. Try it:`,
    "",
    "# 1. Ask a question as a customer of the web widget",
    `CHAT=$(curl -s ${url}/hooks/widget/${demo.widgetId} ${json} -d '{"text":"How long does delivery take?"}' | grep -o '"chatId":"[^"]*' | cut -d'"' -f4); echo $CHAT`,
    "",
    "# 2. Watch the answer arrive, about four seconds after the last message",
    `sleep 5; curl -s "${url}/api/messages?chatId=$CHAT" ${token}`,
    "",
    "# 3. Take the chat over: from here on the assistant is silent",
    `curl -s -X PATCH ${url}/api/chats/$CHAT/ai-control ${json} ${token} -d '{"isUnderAiControl":false}'`,
  ]
}
