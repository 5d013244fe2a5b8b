import { loadEnvironmentFile } from "../config/env-file.js"
import { execute } from "./command-line.js"

// Runs the command of this process.
const { code, stdout, stderr } = await execute(process.argv.slice(2), process.env, loadEnvironmentFile)
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code
