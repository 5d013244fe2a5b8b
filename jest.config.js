/** Jest on the build of the server and of its tests (tsconfig.test.json), loaded by Node itself: see test/kit/jest. */
const kit = "<rootDir>/dist/test/kit/jest"

export default {
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testEnvironment: `${kit}/environment.js`,
  testRunner: `${kit}/runner.js`,
  testSequencer: `${kit}/sequencer.js`,
  globalSetup: `${kit}/build.js`,
  transform: {},
  // For `--watch` and `--findRelatedTests`, which follow the imports of the sources.
  moduleNameMapper: { "^(\\.{1,2}/.*)\\.js$": "$1" },
  modulePathIgnorePatterns: ["<rootDir>/dist", "<rootDir>/\\.dist"],
  // What waits fails before, with what it waits for (test/kit/wait.ts). This ends what waits for nothing that is known.
  testTimeout: 900000,
  // Workers wait for the database a third of their time: two of them leave a part of two cores idle.
  maxWorkers: 3,
  // With a limit Jest starts workers for a single file too, and replaces one that has grown beyond it.
  workerIdleMemoryLimit: "2GB",
}
