import { ModuleMocker } from "jest-mock"

/** The process itself instead of a VM context of its own: what a worker has loaded serves all of its files. What a file changed is put back. */
export default class NativeEnvironment {
  readonly global = globalThis
  readonly moduleMocker = new ModuleMocker(globalThis)
  /** There are none: the tests move the clock of the server. */
  readonly fakeTimers = null
  readonly fakeTimersModern = null
  private readonly console = globalThis.console
  private readonly exit = process.exit
  private readonly env = { ...process.env }

  exportConditions = () => ["node", "node-addons"]
  getVmContext = () => null
  async setup() {}

  async teardown() {
    globalThis.console = this.console
    process.exit = this.exit
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name]
    Object.assign(process.env, this.env)
  }
}
