import { readModel } from "../database/read-model.js"

export const accessTokenReadModel = readModel("AccessToken")
