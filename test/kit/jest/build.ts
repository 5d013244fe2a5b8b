import { spawn } from "node:child_process"
import { once } from "node:events"

/** Jest's global setup: in watch mode, files have changed since the run was built. */
export default async ({ watch, watchAll }: { watch: boolean; watchAll: boolean }) => {
  if (!watch && !watchAll) return
  const compiler = spawn(process.execPath, ["scripts/build.ts"], { stdio: "inherit" })
  const [code] = await once(compiler, "exit")
  if (code !== 0) throw new Error("The tests could not be built")
}
