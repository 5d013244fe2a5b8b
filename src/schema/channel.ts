import { computed, readModel } from "../database/read-model.js"

export const channelReadModel = readModel("Channel", {
  config: computed(["externalId"], ({ externalId }) => ({ externalId })),
})
