import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, extname, join } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** A file that a browser may have: held in memory, so that no part of a request ever names a file on disk. */
export interface Asset {
  /** Where it is served. It holds a digest of the content, so the answer never changes. */
  readonly url: string
  readonly type: string
  readonly etag: string
  readonly body: Buffer
  /** The same, compressed once, when it is first asked for. */
  readonly gzipped: () => Promise<Buffer>
}

const require = createRequire(import.meta.url)
const ofPackage = (name: string, path: string) => join(dirname(require.resolve(`${name}/package.json`)), path)

/** Our own files lie with the sources, also when this module runs from `dist`: look for the package's root, not for a neighbour. */
function ownFolder(from = import.meta.dirname): string {
  return existsSync(join(from, "package.json")) ? join(from, "src/pages/browser") : ownFolder(dirname(from))
}

/** Reads one of our own files, such as a page's HTML. Throws when the installation is incomplete. */
export const ownText = (name: string) => readFileSync(join(ownFolder(), name), "utf8")

/** Everything that the pages load, under the name by which they ask for it. */
const files: Record<string, string> = {
  "graphiql.js": ofPackage("graphiql", "graphiql.min.js"),
  "graphiql.css": ofPackage("graphiql", "graphiql.min.css"),
  "react.js": ofPackage("react", "umd/react.production.min.js"),
  "react-dom.js": ofPackage("react-dom", "umd/react-dom.production.min.js"),
  "graphql-ws.js": join(dirname(require.resolve("graphql-ws")), "../umd/graphql-ws.min.js"),
  "swagger-ui.js": ofPackage("swagger-ui-dist", "swagger-ui-bundle.js"),
  "swagger-ui.css": ofPackage("swagger-ui-dist", "swagger-ui.css"),
  "graphiql-start.js": join(ownFolder(), "graphiql-start.js"),
  "docs-start.js": join(ownFolder(), "docs-start.js"),
  "page.css": join(ownFolder(), "page.css"),
  "icon.svg": join(ownFolder(), "icon.svg"),
}

const types: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
}

const compress = promisify(gzip)

/** A digest that names a content: short enough for a url, long enough that two contents do not share it. */
const digest = (body: Buffer) => createHash("sha256").update(body).digest("base64url").slice(0, 16)

/** Makes an asset of a content; `name` gives its type. */
export function assetOf(name: string, body: Buffer): Asset {
  const extension = extname(name)
  const hash = digest(body)
  let gzipped: Promise<Buffer> | undefined
  return {
    url: `/assets/${name.slice(0, -extension.length)}-${hash}${extension}`,
    type: types[extension]!,
    etag: `"${hash}"`,
    body,
    gzipped: () => {
      gzipped ??= compress(body)
      return gzipped
    },
  }
}

/** Reads every asset, by name. Throws when a file is missing, which a broken installation alone can cause. */
export function readAssets(): Map<string, Asset> {
  return new Map(Object.entries(files).map(([name, file]) => [name, assetOf(name, readFileSync(file))]))
}
