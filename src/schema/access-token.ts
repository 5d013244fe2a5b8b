import { computed, readModel } from "../database/read-model.js"

/** Only the response of createAccessToken contains the value of a token; a row that is read has none, because it is not stored. */
export const accessTokenReadModel = readModel("AccessToken", { token: computed([], () => null) })
