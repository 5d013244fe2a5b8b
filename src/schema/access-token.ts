import { source } from "../database/source.js"

export const accessTokenSource = source("AccessToken")
