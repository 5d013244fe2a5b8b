import { ormOptions } from "./src/database/options.js"

/** For the mapper's command line; the server passes its own address. */
export default ormOptions(process.env.DATABASE_URL ?? "postgres://127.0.0.1:1/none")
