/** A shell command of the demo, with its purpose. */
export interface DemoCommand {
  title: string
  command: string
}

/** Facts for the start page. The page is public: they must not contain secrets, addresses or paths of the server. */
export interface StartPageFacts {
  /** Names of the services that the server uses. */
  readonly configuration: readonly (readonly [name: string, value: string])[]
  /** Whether clients can read the GraphQL schema. */
  readonly schema: boolean
  /** Whether the server has metrics at /metrics. */
  readonly metrics: boolean
  /** The demo company; null without one. */
  readonly demo: { readonly email: string; readonly widgetId: string; readonly commands: readonly DemoCommand[] } | null
  /** Whether the demo's owner is signed in by a button: for a browser on this machine alone. */
  readonly isLocal?: boolean
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

/** Escapes text for HTML. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!)

/** The demo's owner for the inbox's page, which signs in with it. */
export const demoOwner = ({ email, password }: { email: string; password: string }) =>
  `<meta name="demo-owner" data-email="${escaped(email)}" data-password="${escaped(password)}" />`

/** Fills the comments `<!-- schema -->`, `<!-- configuration -->`, `<!-- metrics -->`, `<!-- try -->`, `<!-- demo -->` and `<!-- widget -->` of a page with facts of the running server. */
export function startPage(html: string, { configuration, schema, metrics, demo, isLocal = false }: StartPageFacts): string {
  const parts: Record<string, string> = {
    schema: schema ? `<li><a href="/graphql/schema.graphql">GraphQL schema</a>: the schema in SDL, for code generators.</li>` : "",
    configuration: configuration
      .map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`)
      .join(""),
    metrics: metrics ? `<li><a href="/metrics">Metrics</a>: for Prometheus.</li>` : "",
    try: demo ? demoLinks(isLocal) : "",
    demo: demo ? demoSection(demo) : "",
    widget: demo ? `<script src="/widget.js" data-connection="${escaped(demo.widgetId)}" async></script>` : "",
  }
  return html.replace(/<!-- (\w+) -->/g, (comment, part: string) => parts[part] ?? comment)
}

/** What a newcomer tries first. */
const demoLinks = (isLocal: boolean) =>
  `<h2>Try it</h2>
      ${isLocal ? `<p><a class="button" href="/inbox?demo">Open the inbox as the demo’s owner</a></p>` : ""}
      <p><a href="/demo">Demo shop</a>: the page of a shop, with the chat widget; this page has it too, as a customer sees it.</p>`

function demoSection({ email, commands }: NonNullable<StartPageFacts["demo"]>): string {
  const steps = commands.map(({ title, command }) => `<li>${escaped(title)}:<pre><code>${escaped(command)}</code></pre></li>`)
  return `<h2>Demo company</h2>
      <p>Sign in to the inbox, or with <code>POST /api/auth/sign-in</code> as <code>${escaped(email)}</code>. The password and an access token are in the
      file <code>demo.json</code> in the data directory (<code>data</code> by default), and the server prints them when it starts.</p>
      <p>Paste these commands into a terminal, in the folder from which the server was started:</p>
      <ol>${steps.join("")}</ol>`
}
