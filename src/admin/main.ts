import { refuseOldNode } from "../node-version.js"

refuseOldNode()
// Loaded afterwards: an older Node cannot load the modules of the commands.
void import("./run.js")
