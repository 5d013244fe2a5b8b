import jsonwebtoken from "jsonwebtoken"
import supertest from "supertest"
import { pathOf, upload } from "../kit/files.js"
import { rawSocket } from "../kit/sockets.js"
import { world } from "../kit/world.js"

const [before, after] = ["the secret before the rotation, long enough", "the secret after the rotation, long enough"]
const w = world({ JWT_SECRET: before })
const { acme, rest, gql } = w

type Server = Awaited<ReturnType<typeof w.another>>

/** The status of a read with a user's JWT. */
const statusOf = async ({ url }: { url: string }, jwt: string) =>
  (await fetch(`${url}/api/chats`, { headers: { Authorization: `Bearer ${jwt}` } })).status
const refresh = ({ url }: { url: string }, refreshToken: string) => supertest(url).post("/api/auth/refresh").send({ refreshToken })
const write = ({ url }: { url: string }, body: object) => supertest(url).post(`/hooks/widget/${acme.widget.id}`).send(body)
const isSignedBy = (secret: string, token: string) => jsonwebtoken.verify(token, secret, { algorithms: ["HS256"] })

describe("a rotation of JWT_SECRET", () => {
  let rotated: Server
  let ended: Server

  beforeAll(async () => {
    rotated = await w.another({ JWT_SECRET: after, JWT_SECRET_PREVIOUS: before })
    ended = await w.another({ JWT_SECRET: after })
  })

  it("signs nobody out: sessions go on with tokens of the new secret", async () => {
    const { jwt, refreshToken } = await acme.person()
    expect(await statusOf(rotated, jwt)).toBe(200)
    const socket = await rawSocket({ ...w, url: rotated.url })
    expect(await socket.open(jwt)).toBe("acknowledged")
    socket.socket.terminate()

    const { body: pair } = await refresh(rotated, refreshToken).expect(200)
    for (const token of [pair.accessToken, pair.refreshToken]) isSignedBy(after, token)
    expect(await statusOf(rotated, pair.accessToken)).toBe(200)
    expect(await statusOf(ended, pair.accessToken)).toBe(200)
    await refresh(ended, pair.refreshToken).expect(200)
    expect(await statusOf(ended, jwt)).toBe(401)
  })

  it("keeps the visitors of the widget in their chats, and gives them tokens of the new secret", async () => {
    const { body: first } = await write(w, { text: "Hello" }).expect(201)
    const { body: next } = await write(rotated, { text: "Still here", visitorToken: first.visitorToken }).expect(201)
    expect(next.chatId).toBe(first.chatId)
    isSignedBy(after, next.visitorToken)
    const query = "query ($chatId: UUID!) { messages(chatId: $chatId) { nodes { text } } }"
    const read = (url: string, visitorToken: string) =>
      supertest(url)
        .post("/graphql")
        .set("Authorization", `Bearer ${visitorToken}`)
        .send({ query, variables: { chatId: first.chatId } })
    expect((await read(rotated.url, first.visitorToken)).body.data.messages.nodes).toHaveLength(2)
    expect((await read(ended.url, next.visitorToken)).body.data.messages.nodes).toHaveLength(2)
    await read(ended.url, first.visitorToken).expect(401)
  })

  it("keeps the URLs of files valid, and signs new ones with the new secret", async () => {
    const { body: media } = await upload(w, acme.token, Buffer.from("0123456789"), "digits.txt").expect(201)
    const old = pathOf(media.url)
    await supertest(rotated.url).get(old).expect(200)
    await supertest(ended.url).get(old).expect(403)
    const renewed = pathOf(rotated.services.mediaUrls.of(media.id))
    await supertest(ended.url).get(renewed).expect(200)
    await rest.anonymous.get(renewed).expect(403)
  })

  it("accepts nothing else: another secret, another kind of token, an expired one", async () => {
    const person = await acme.person()
    const claims = { ...(jsonwebtoken.decode(person.jwt) as object) }
    expect(await statusOf(rotated, jsonwebtoken.sign(claims, "a secret of nobody, but also long enough"))).toBe(401)
    expect(await statusOf(rotated, person.refreshToken)).toBe(401)
    const expired = jsonwebtoken.sign({ ...claims, iat: 1_700_000_000, exp: 1_700_000_060 }, before)
    const answer = await fetch(`${rotated.url}/api/chats`, { headers: { Authorization: `Bearer ${expired}` } })
    expect(await answer.json()).toMatchObject({ statusCode: 401, message: expect.stringMatching(/expired/) })
    expect(await (await rawSocket({ ...w, url: rotated.url })).open(expired)).toBe(4403)
  })

  it("lets instances that do not sign with the new secret yet accept it", async () => {
    const prepared = await w.another({ JWT_SECRET: before, JWT_SECRET_PREVIOUS: after })
    const { refreshToken } = await acme.person()
    const { body: pair } = await refresh(rotated, refreshToken).expect(200)
    expect(await statusOf(prepared, pair.accessToken)).toBe(200)
    const { body: next } = await refresh(prepared, pair.refreshToken).expect(200)
    isSignedBy(before, next.accessToken)
    expect(await statusOf(rotated, next.accessToken)).toBe(200)
    expect((await gql(next.accessToken, "{ me { id } }")).status).toBe(200)
  })
})
