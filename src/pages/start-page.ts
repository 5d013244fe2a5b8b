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
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

/** Escapes text for HTML. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!)

/** Fills the comments `<!-- schema -->`, `<!-- configuration -->`, `<!-- metrics -->` and `<!-- demo -->` of a page with facts of the running server. */
export function startPage(html: string, { configuration, schema, metrics, demo }: StartPageFacts): string {
  const parts: Record<string, string> = {
    schema: schema ? `<li><a href="/graphql/schema.graphql">GraphQL schema</a>: the schema in SDL, for code generators.</li>` : "",
    configuration: configuration
      .map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`)
      .join(""),
    metrics: metrics ? `<li><a href="/metrics">Metrics</a>: for Prometheus.</li>` : "",
    demo: demo ? demoSection(demo) : "",
  }
  return html.replace(/<!-- (\w+) -->/g, (comment, part: string) => parts[part] ?? comment)
}

function demoSection({ email, commands }: NonNullable<StartPageFacts["demo"]>): string {
  const steps = commands.map(({ title, command }) => `<li>${escaped(title)}:<pre><code>${escaped(command)}</code></pre></li>`)
  return `<h2>Demo company</h2>
      <p><a href="/demo">Demo shop</a>: the page of a shop, with the chat widget.</p>
      <p>Sign in with <code>POST /api/auth/sign-in</code> as <code>${escaped(email)}</code>. The password and an access token are in the
      file <code>demo.json</code> in the data directory (<code>data</code> by default), and the server prints them when it starts.</p>
      <p>Paste these commands into a terminal, in the folder from which the server was started:</p>
      <ol>${steps.join("")}</ol>`
}
