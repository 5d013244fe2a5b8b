import { derived, source } from "../database/source.js"

export const channelSource = source("Channel", {
  config: derived("config", ["externalId"], (row) => ({ externalId: row["externalId"] })),
})
