import type { Config } from "../config/config.js"
import type { Services } from "../context/services.js"
import type { DemoCommand, StartPageFacts } from "../pages/start-page.js"
import type { Demo } from "./demo.js"

/** Lines that the terminal shows once the server listens: its addresses, its configuration, and how to try it. */
export function welcome(
  config: Config,
  url: string,
  services: Pick<Services, "config" | "models" | "embedding" | "voices">,
  demo: Demo | null,
): string[] {
  const rows = [
    ["GraphiQL", `${url}/graphql`],
    ["REST docs", `${url}/api/docs`],
    ["Inbox", `${url}/inbox`],
    ...(demo ? [["Demo shop", `${url}/demo`]] : []),
    ["Data directory", config.dataDir],
    ...configurationOf(services),
  ]
  return [
    "",
    `Listening on ${url}`,
    ...rows.map(([name, value]) => `  ${name!.padEnd(16)} ${value}`),
    ...(demo ? tryIt(url, demo) : []),
    "",
  ]
}

/** What the server runs on, by name; public, so without addresses and paths. */
export function configurationOf({
  config,
  models,
  embedding,
  voices,
}: Pick<Services, "config" | "models" | "embedding" | "voices">): [name: string, value: string][] {
  const [model] = models
  const offline =
    " (built in: quotes the knowledge of the assistant; set OPENAI_API_KEY or ANTHROPIC_API_KEY for another model, and choose it in the assistants)"
  const byWords = " (built in: compares words, not meanings; set EMBEDDING_API_KEY to use another model)"
  return [
    ["Database", config.databaseUrl ? "PostgreSQL" : "Embedded PostgreSQL"],
    ["Job queue", config.mongodbUrl ? "MongoDB" : "PostgreSQL"],
    ["Fan-out", config.redisUrl ? "Redis" : "PostgreSQL"],
    ["Media storage", config.s3 ? "S3" : "Data directory"],
    ["Text model", `${model!.name}${model!.provider === "offline" ? offline : ""}`],
    ["Embedding", `${embedding.id}${config.embedding ? "" : byWords}`],
    ["Voice", `${voices.map(({ name }) => name).join(", ")}${voices.length > 1 ? "" : " (built in: simulates calls)"}`],
  ]
}

/** How the terminal shows the demo: with its password and token, because only the operator reads it. */
function tryIt(url: string, demo: Demo): string[] {
  const commands = commandsOf(url, demo, demo.token).flatMap(({ title, command }, index) => ["", `# ${index + 1}. ${title}`, command])
  return ["", `A demo company is ready; sign in as ${demo.email} with the password ${demo.password}. Try it:`, ...commands]
}

/** How the start page shows the demo: anyone may read it, so its commands take the token from the file of the demo. */
export function demoFacts(url: string, demo: Demo): NonNullable<StartPageFacts["demo"]> {
  const readToken = {
    title: "Read the access token of the demo",
    command: `TOKEN=$(grep -o 'amp_[0-9A-Za-z_]*' "\${DATA_DIR:-data}/demo.json")`,
  }
  return { email: demo.email, widgetId: demo.widgetId, commands: [readToken, ...commandsOf(url, demo, "$TOKEN")] }
}

/** Three commands to paste: ask as a customer, read the answer, take over. */
function commandsOf(url: string, { widgetId }: Demo, accessToken: string): DemoCommand[] {
  const json = "-H 'Content-Type: application/json'"
  const token = `-H "X-Access-Token: ${accessToken}"`
  return [
    {
      title: "Ask a question as a customer of the web widget",
      command: `CHAT=$(curl -s ${url}/hooks/widget/${widgetId} ${json} -d '{"text":"How long does delivery take?"}' | grep -o '"chatId":"[^"]*' | cut -d'"' -f4); echo $CHAT`,
    },
    {
      title: "Read the answer, which comes about four seconds after the last message",
      command: `sleep 5; curl -s "${url}/api/messages?chatId=$CHAT" ${token}`,
    },
    {
      title: "Take the chat over: the assistant no longer answers in it",
      command: `curl -s -X PATCH ${url}/api/chats/$CHAT/ai-control ${json} ${token} -d '{"isUnderAiControl":false}'`,
    },
  ]
}
