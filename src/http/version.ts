import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import Router from "@koa/router"

/** Version of this server, from its package. */
export const serverVersion: string = JSON.parse(readFileSync(findPackageJSON("..", import.meta.url)!, "utf8")).version

/** `GET /version`: the versions of the server, of Node and of the database's schema. */
export function versionRouter(migration: string): Router {
  return new Router().get("/version", (ctx) => {
    ctx.set("Cache-Control", "no-store")
    ctx.body = { version: serverVersion, node: process.version, migration }
  })
}
