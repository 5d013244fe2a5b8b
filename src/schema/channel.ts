import { derived, source } from "../database/read-model.js"

export const channelSource = source("Channel", {
  config: derived("config", ["externalId"], (row) => ({ externalId: row["externalId"] })),
})
