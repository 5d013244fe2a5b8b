import { spawn } from "node:child_process"
import { once } from "node:events"
import { happens } from "./wait.js"

/** Runs the command of the evals; of models it knows those in `models` (OPENAI_… and ANTHROPIC_…) and the offline one. */
export async function evaluate(args: string[], models: Record<string, string> = {}) {
  const own = Object.entries(process.env).filter(([name]) => !/^(OPENAI|ANTHROPIC|EMBEDDING|NODE_OPTIONS)/.test(name))
  const child = spawn(process.execPath, ["dist/eval/main.js", ...args], { env: { ...Object.fromEntries(own), ...models } })
  let [printed, told] = ["", ""]
  child.stdout.on("data", (text) => (printed += text))
  child.stderr.on("data", (text) => (told += text))
  const [code] = await happens("the evaluation has ended", once(child, "close"))
  return { code, printed, told }
}
