import { source } from "../database/read-model.js"

export const accessTokenSource = source("AccessToken")
