import { spawn } from "node:child_process"
import { once } from "node:events"

/** Builds the server as `npm start` does, which then finds nothing to build, and the tests beside it. */
export async function build() {
  for (const project of ["tsconfig.json", "tsconfig.test.json"]) {
    const compiler = spawn(process.execPath, ["scripts/build.ts", project], { stdio: "inherit" })
    const [code] = await once(compiler, "exit")
    if (code !== 0) throw new Error(`${project} could not be built`)
  }
}

/** Jest's global setup: in watch mode, files have changed since the run was built. */
export default async ({ watch, watchAll }: { watch: boolean; watchAll: boolean }) => {
  if (watch || watchAll) await build()
}
