import type { Config } from "../config.js"
import type { Services } from "../schema/kit/services.js"
export function welcome(_config: Config, url: string, _services: Services, _demo: null): string[] {
  return [`Listening on ${url}`]
}
