import { operatorError } from "../errors/operator-error.js"

/** Adds the variables of the file `.env` in the working directory, if there is one; those of the real environment win. */
export function loadEnvironmentFile(): void {
  try {
    process.loadEnvFile(".env")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw operatorError(`.env cannot be read: ${(error as Error).message}`, error)
  }
}
