import { accessTokenRoutes } from "./access-token.js"
import { assistantRoutes } from "./assistant.js"
import { assistantToolRoutes } from "./assistant-tool.js"
import { callRoutes } from "./call.js"
import { chatRoutes } from "./chat.js"
import { chatFolderRoutes } from "./chat-folder.js"
import { chatInboxRoutes } from "./chat-inbox.js"
import { chatTagRoutes } from "./chat-tag.js"
import { companyRoutes } from "./company.js"
import { eventWebhookRoutes } from "./event-webhook.js"
import { guardrailRoutes } from "./guardrail.js"
import { knowledgeRoutes } from "./knowledge.js"
import { mcpServerRoutes } from "./mcp-server.js"
import { mediaRoutes } from "./media.js"
import { messageRoutes } from "./message.js"
import { outcomeRoutes } from "./outcome.js"
import { ratingRoutes } from "./rating.js"
import { sessionRoutes } from "./session.js"
import { stretchRoutes } from "./stretch.js"
import { unansweredQuestionRoutes } from "./unanswered-question.js"

/** Every REST route of the server. */
export const routeTable = [
  ...sessionRoutes,
  ...companyRoutes,
  ...accessTokenRoutes,
  ...assistantRoutes,
  ...assistantToolRoutes,
  ...mcpServerRoutes,
  ...guardrailRoutes,
  ...knowledgeRoutes,
  ...chatRoutes,
  ...chatInboxRoutes,
  ...chatFolderRoutes,
  ...chatTagRoutes,
  ...messageRoutes,
  ...ratingRoutes,
  ...stretchRoutes,
  ...unansweredQuestionRoutes,
  ...outcomeRoutes,
  ...mediaRoutes,
  ...callRoutes,
  ...eventWebhookRoutes,
]
