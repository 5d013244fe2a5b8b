/** The part of recheck that runs in the calling thread, without the package's native programs; it has no types of its own. */
declare module "recheck/lib/browser.js" {
  import type { checkSync } from "recheck"

  const recheck: { checkSync: typeof checkSync }
  export default recheck
}
