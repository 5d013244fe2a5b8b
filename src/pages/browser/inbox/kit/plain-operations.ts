/** Operations that are sent without the client and its cache, as text. */

const tokens = "{ accessToken refreshToken expiresIn }"

export const signInOperation = `mutation SignIn($email: String, $password: String) { signIn(email: $email, password: $password) ${tokens} }`
export const refreshOperation = `mutation Refresh($refreshToken: String!) { refreshSession(refreshToken: $refreshToken) ${tokens} }`
export const signOutOperation = "mutation SignOut { signOut }"

/** A multipart request carries the file. */
export const uploadOperation =
  "mutation UploadMedia($companyId: UUID!, $file: Upload!, $key: String!) { uploadMedia(companyId: $companyId, file: $file, idempotencyKey: $key) { id filename } }"
