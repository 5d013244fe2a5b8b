import { refuseOldNode } from "./node-version.js"

refuseOldNode()
// Loaded afterwards: an older Node cannot load the modules of the server. Its errors are its own; it prints them and exits.
void import("./start.js")
