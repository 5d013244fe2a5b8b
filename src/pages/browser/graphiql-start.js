// Starts GraphiQL on the page that pages.ts serves. Runs in the browser: React, ReactDOM, GraphiQL and graphqlWs are loaded before it.
const { React, ReactDOM, GraphiQL, graphqlWs } = window

const firstQuery = `# Put your access token into the headers below (or sign in, and send "Authorization": "Bearer …").
# Ctrl-Space completes, Ctrl-Enter runs, the book on the left explains every field.

query Companies {
  myCompanies {
    id
    name
  }
}

# What happens, as it happens.
subscription Events {
  events {
    id
    type
    createdAt
    payload
  }
}
`

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

const props = {
  // An empty header would be a wrong token; the editor starts with one, so that everybody sees where the token goes.
  fetcher: (params, options) => {
    headers = Object.fromEntries(Object.entries(options?.headers ?? {}).filter(([, value]) => value))
    return fetcher(params, { ...options, headers })
  },
  defaultQuery: firstQuery,
  defaultHeaders: JSON.stringify({ "X-Access-Token": "" }, null, 2),
  defaultEditorToolsVisibility: "headers",
}

ReactDOM.createRoot(document.getElementById("graphiql")).render(React.createElement(GraphiQL, props))
