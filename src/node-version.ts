/** The major version of Node.js that the server is written for: the first one with AsyncDisposableStack. */
export const nodeMajor = 24

/** Ends the process with one sentence when Node.js is too old. Entries import nothing else statically, because that may not load there. */
export function refuseOldNode(): void {
  if (Number(process.versions.node.split(".")[0]) >= nodeMajor) return
  process.stderr.write(
    `Node.js ${nodeMajor} or later is needed, and this is ${process.version}: use node_modules/.bin/node, which npm ci installs, or run npm start.\n`,
  )
  process.exit(1)
}
