import type { Services } from "../schema/kit/services.js"
export async function prepareDemo(_services: Services) {
  return null
}
