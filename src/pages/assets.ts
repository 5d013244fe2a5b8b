import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** A file for browsers, held in memory, so that no part of a request ever names a file on disk. */
export interface Asset {
  /** Its path, which contains a digest of the content, so that the content at a path never changes. */
  readonly url: string
  readonly type: string
  readonly etag: string
  readonly body: Buffer
  /** The compressed content: a file of the build, or created at the first request. */
  readonly gzipped: () => Promise<Buffer>
}

/** Folder into which `npm run build` copies all files, so that a server needs no page library installed. */
const built = join(import.meta.dirname, "../../browser")
const folder = existsSync(built) ? built : join(import.meta.dirname, "browser")

/** Source of library files: packages that only the build and a server that runs from source need. */
const libraries: Record<string, string> = JSON.parse(readFileSync(join(folder, "libraries.json"), "utf8"))

/** Files that `npm run build` makes of the sources in `browser/widget`; a server that runs from source needs them too. */
const bundles = ["widget.js", "widget-chat.js"]

function read(name: string): Buffer {
  if (folder !== built && bundles.includes(name)) return readFileSync(join(import.meta.dirname, "../../dist/browser", name))
  const isInPackage = folder !== built && Object.hasOwn(libraries, name)
  return readFileSync(isInPackage ? join(import.meta.dirname, "../../node_modules", libraries[name]!) : join(folder, name))
}

/** Reads a file of this project, such as the HTML of a page. Throws when the installation is incomplete. */
export const ownText = (name: string) => read(name).toString("utf8")

/** The files that the chat widget loads, and those that the pages for people load too, by the name that pages use. */
const ofWidget = ["widget-chat.js", "icon.svg"]
const ofPages = [...Object.keys(libraries), "graphiql-start.js", "docs-start.js", "page.css", "demo.css"]

const types: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
}

const compress = promisify(gzip)

/** A digest of a content: short enough for a URL, long enough to be unique. */
const digest = (body: Buffer) => createHash("sha256").update(body).digest("base64url").slice(0, 16)

/** Creates an asset from a content and, where the build made it, the compressed content; `name` determines its type. */
export function assetOf(name: string, body: Buffer, compressed?: Buffer): Asset {
  const extension = extname(name)
  const hash = digest(body)
  let gzipped: Promise<Buffer> | undefined
  return {
    url: `/assets/${name.slice(0, -extension.length)}-${hash}${extension}`,
    type: types[extension]!,
    etag: `"${hash}"`,
    body,
    gzipped: () => {
      gzipped ??= compressed ? Promise.resolve(compressed) : compress(body)
      return gzipped
    },
  }
}

/** The compressed content of a file, which only a build has. */
function compressedFile(name: string): Buffer | undefined {
  const path = join(built, `${name}.gz`)
  return folder === built && existsSync(path) ? readFileSync(path) : undefined
}

const inboxFolder = join(folder === built ? folder : join(import.meta.dirname, "../../dist/browser"), "inbox")

/** The operations of the inbox, by the manifest that the build writes. */
export const inboxOperations = (): string[] => Object.values(JSON.parse(readFileSync(join(inboxFolder, "operations.json"), "utf8")))

/**
 * Reads the files of the inbox. Its scripts import each other by their names, which contain a digest of the content already. Throws when the
 * inbox is not built.
 */
function inboxFiles(): [name: string, asset: Asset][] {
  const names = readdirSync(inboxFolder).filter((file) => /\.(js|css)$/.test(file))
  return names.map((file) => {
    const asset = { ...assetOf(file, readFileSync(join(inboxFolder, file)), compressedFile(`inbox/${file}`)), url: `/assets/inbox/${file}` }
    return [file.startsWith("main-") ? `inbox${extname(file)}` : file, asset]
  })
}

/** Reads every asset of the widget and, if wanted, of the pages for people, by name. Throws when a file is missing: the installation is broken. */
export function readAssets(hasPages: boolean): Map<string, Asset> {
  const asset = (name: string): [string, Asset] => [name, assetOf(name, read(name), compressedFile(name))]
  return new Map([...ofWidget.map(asset), ...(hasPages ? [...ofPages.map(asset), ...inboxFiles()] : [])])
}
