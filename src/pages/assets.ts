import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
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

/** `npm run build` puts all files into this folder, so that a server needs no library of a page installed. */
const built = join(import.meta.dirname, "../../browser")
const folder = existsSync(built) ? built : join(import.meta.dirname, "browser")

/** Where the files of libraries come from: packages that only the build, and a server that runs from its sources, need. */
const libraries: Record<string, string> = JSON.parse(readFileSync(join(folder, "libraries.json"), "utf8"))

function read(name: string): Buffer {
  const isInPackage = folder !== built && Object.hasOwn(libraries, name)
  return readFileSync(isInPackage ? join(import.meta.dirname, "../../node_modules", libraries[name]!) : join(folder, name))
}

/** Reads one of our own files, such as a page's HTML. Throws when the installation is incomplete. */
export const ownText = (name: string) => read(name).toString("utf8")

/** Everything that the pages load, under the name by which they ask for it. */
const names = [...Object.keys(libraries), "graphiql-start.js", "docs-start.js", "page.css", "icon.svg"]

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
  return new Map(names.map((name) => [name, assetOf(name, read(name))]))
}
