import module from "node:module"
import { refuseOldNode } from "./node-version.js"

refuseOldNode()
// Errors name files and lines of src/. --enable-source-maps would also keep the source maps of all packages in memory: 10 MB.
module.setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
// Loaded afterwards: an older Node cannot load the modules of the server. Its errors are its own; it prints them and exits.
void import("./start.js")
