// Starts GraphiQL on the page that pages.ts serves. Runs in the browser: React, ReactDOM, GraphiQL and graphqlWs are loaded before it.
const { React, ReactDOM, GraphiQL, graphqlWs } = window

const root = document.getElementById("graphiql")

/** Operations to begin with, each in a tab. */
const operations = [
  `# Put your access token into the headers below (or sign in, and send "Authorization": "Bearer …").
# Ctrl-Space completes, Ctrl-Enter runs, the book on the left explains every field.

query Companies {
  myCompanies {
    id
    name
  }
}
`,
  `# The chats in which something happened last.
query Chats {
  chats(first: 10) {
    nodes {
      id
      name
      messenger
      isUnderAiControl
      unreadCount
      lastMessage { role text createdAt }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
  `# The messages of a chat, newest first. Take its ID from the tab Chats.
query Messages($chatId: UUID!) {
  messages(chatId: $chatId, first: 20) {
    nodes { role text status createdAt sources { knowledgeName } }
  }
}
`,
  `# A person answers from now on, until AI is turned on again.
mutation TakeOver($chatId: UUID!, $text: String!) {
  setAiControl(id: $chatId, isUnderAiControl: false) { id isUnderAiControl }
  createMessage(input: { chatId: $chatId, text: $text }) { id status }
}
`,
  `# What happens, as it happens.
subscription Events {
  events {
    id
    type
    createdAt
    message { role text }
  }
}
`,
]

/** The headers of the last request: a browser cannot send headers with a WebSocket, so they travel as its connection parameters. */
let headers = {}

const header = (name) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]

const sockets = graphqlWs.createClient({
  url: `${location.protocol.replace("http", "ws")}//${location.host}/graphql`,
  connectionParams: () => {
    const [accessToken, authorization] = [header("x-access-token"), header("authorization")]
    return { ...(accessToken && { accessToken }), ...(authorization && { authorization }) }
  },
})

const fetcher = GraphiQL.createFetcher({ url: "/graphql", wsClient: sockets })

/** What a person reads when the socket was refused: GraphiQL names the number of the close event alone. */
async function* inWords(events) {
  try {
    yield* events
  } catch (error) {
    if (!/\b4401\b/.test(error?.message)) throw error
    const hasToken = header("x-access-token") || header("authorization")
    const message = hasToken ? "The token in the headers is wrong, or has expired." : "Put a token into the headers."
    yield { errors: [{ message, extensions: { code: "UNAUTHENTICATED" } }] }
  }
}

const initialHeaders = JSON.stringify({ "X-Access-Token": root.dataset.token }, null, 2)

const props = {
  // An empty header would be a wrong token; the editor starts with one, so that everybody sees where the token goes.
  fetcher: async (params, options) => {
    headers = Object.fromEntries(Object.entries(options?.headers ?? {}).filter(([, value]) => value))
    const answer = await fetcher(params, { ...options, headers })
    return answer?.[Symbol.asyncIterator] ? inWords(answer) : answer
  },
  defaultTabs: operations.map((query) => ({ query, headers: initialHeaders })),
  defaultHeaders: initialHeaders,
  shouldPersistHeaders: true,
  defaultEditorToolsVisibility: "headers",
}

ReactDOM.createRoot(root).render(React.createElement(GraphiQL, props))
