import { world } from "./kit/world.js"
const { acme } = world()
afterAll(() => { setTimeout(() => { console.error("HANDLES", process.getActiveResourcesInfo()) ; for (const h of (process as any)._getActiveHandles()) console.error(h.constructor.name, h.remotePort, h.localPort, h.fd) }, 300).unref() })
it("works", async () => {
  await acme.chat()
})
