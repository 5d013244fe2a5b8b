const live = new Map<any, string>()
const orig = globalThis.setTimeout, origI = globalThis.setInterval, clr = globalThis.clearTimeout
;(globalThis as any).setTimeout = (f: any, ms: any, ...a: any[]) => { const t: any = orig((...x: any[]) => { live.delete(t); f(...x) }, ms, ...a); live.set(t, ms + " " + new Error().stack); return t }
;(globalThis as any).setInterval = (f: any, ms: any, ...a: any[]) => { const t: any = origI(f, ms, ...a); live.set(t, "I" + ms + " " + new Error().stack); return t }
;(globalThis as any).clearTimeout = (t: any) => { live.delete(t); clr(t) }
;(globalThis as any).clearInterval = (t: any) => { live.delete(t); clr(t) }
const { world } = await import("./kit/world.js")
afterAll(() => { orig(() => { const out = [...live].filter(([t]) => t.hasRef()).map(([, s]) => s) }, 300).unref(); orig(() => process._rawDebug([...live].filter(([t]) => t.hasRef()).map(([, s]) => s).join("\n\n")), 300).unref() })
const { acme } = world()
it("works", async () => {
  await acme.chat()
})
