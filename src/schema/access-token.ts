import { computed, readModel } from "../database/read-model.js"

/** The value of a token is in the answer that creates it; it is not stored, so a row that is read has none. */
export const accessTokenReadModel = readModel("AccessToken", { token: computed([], () => null) })
