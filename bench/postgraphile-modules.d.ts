// What bench/postgraphile.ts uses of PostGraphile, which only `npm ci` in this folder installs: its types are checked without it.

declare module "postgraphile" {
  export function postgraphile(preset: object): {
    createServ(grafserv: typeof import("postgraphile/grafserv/node").grafserv): { addTo(server: import("node:http").Server): Promise<void> }
  }
}
declare module "postgraphile/adaptors/pg" {
  export function makePgService(options: { connectionString: string; schemas: string[]; poolConfig: { max: number } }): object
}
declare module "postgraphile/grafserv/node" {
  export const grafserv: unique symbol
}
declare module "postgraphile/presets/amber" {
  export const PostGraphileAmberPreset: object
}
declare module "postgraphile/utils" {
  export function jsonPgSmartTags(tags: { version: 1; config: { class: Record<string, { tags: Record<string, string> }> } }): object
}
