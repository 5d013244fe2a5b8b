import { createHash, randomUUID } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { getIntrospectionQuery, parse, print } from "graphql"
import supertest from "supertest"
import { folderOfItsOwn, samples, uploadMutation } from "../kit/files.js"
import { mcpClient } from "../kit/mcp.js"
import { rawSocket, subscribe } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest("hex")
const normal = (text: string) => print(parse(text))

const folders = normal("query Folders { chatFolders { ...F } } fragment F on ChatFolder { id name }")
const addFolder = normal("mutation AddFolder($input: CreateChatFolderInput!) { createChatFolder(input: $input) { name } }")
const events = normal(`subscription ($companyId: UUID, $chatId: UUID, $types: [EventType!], $after: String) {
  events(companyId: $companyId, chatId: $chatId, types: $types, after: $after) { id type createdAt payload } }`)
const upload = normal(uploadMutation)
const own = "custom-id-of-folders"

const folder = folderOfItsOwn()
let files = 0
/** Writes a manifest and returns its path. */
function written(content: unknown): string {
  files += 1
  const path = join(folder, `manifest-${files}.json`)
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
  return path
}
const operation = (body: string, id = hash("sha256", body)) => ({ id, name: "Any", type: "query", body })
const apollo = (...operations: object[]) => ({ format: "apollo-persisted-query-manifest", version: 1, operations })
const listed = [operation(folders, own), operation(addFolder), operation(events), operation(upload)]

const w = world({ TRUSTED_DOCUMENTS: written(apollo(...listed)) })
const { acme, rest } = w

const refused = { code: "DOCUMENT_NOT_TRUSTED", statusCode: 400, details: [], requestId: expect.any(String) }
const apq = (sha256Hash: unknown) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } })

const post = (body: object, url = w.url, accept = "application/json") =>
  supertest(url).post("/graphql").set("X-Access-Token", acme.token).set("Accept", accept).send(body)
const get = (parameters: Record<string, string>) =>
  supertest(w.url)
    .get(`/graphql?${new URLSearchParams(parameters)}`)
    .set("X-Access-Token", acme.token)
const runs = { data: { chatFolders: [] } }

/** What a listed operation may be sent as. */
const spellings: [string, Record<string, unknown>][] = [
  ["its text", { query: folders }],
  ["its text in other white space, with comments", { query: `# mine\n${folders.replaceAll("\n", " \n\n ")}` }],
  ["its text in another order", { query: "fragment F on ChatFolder { id name } query Folders { chatFolders { ...F } }" }],
  ["documentId", { documentId: own }],
  ["the SHA-256 of its text", { documentId: `sha256:${hash("sha256", folders)}` }],
  ["id", { id: own, operationName: "Folders" }],
  ["Apollo's extension", apq(own)],
  ["Apollo's extension with the SHA-256 of its text", { query: "", ...apq(hash("sha256", folders)) }],
]

/** What is not listed. */
const strange: [string, Record<string, unknown>][] = [
  ["another text", { query: "{ chatFolders { id } }" }],
  ["another field in a listed operation", { query: folders.replace("name", "name color") }],
  ["a listed operation beside another", { query: `${folders} query Mine { me { id } }`, operationName: "Folders" }],
  ["introspection", { query: getIntrospectionQuery() }],
  ["an unknown id", { documentId: hash("sha256", "{ chatFolders { id } }") }],
  ["an inherited name", { documentId: "__proto__" }],
  ["an id that is no text", { id: 5 }],
  ["registering an operation", { query: "{ __typename }", ...apq(hash("sha256", "{ __typename }")) }],
  ["a registered operation", apq(hash("sha256", "{ __typename }"))],
  ["an id of the list with another text", { query: "{ __typename }", documentId: own }],
]

describe("with a manifest, a listed operation", () => {
  it.each(spellings)("runs over HTTP by %s, each time", async (_name, body) => {
    for (const _again of [1, 2]) expect((await post(body).expect(200)).body).toEqual(runs)
  })

  it("runs over GET", async () => {
    expect((await get({ query: folders }).expect(200)).body).toEqual(runs)
    expect((await get({ documentId: own, operationName: "" }).expect(200)).body).toEqual(runs)
    expect((await get({ id: own }).expect(200)).body).toEqual(runs)
    expect((await get({ extensions: JSON.stringify(apq(own).extensions) }).expect(200)).body).toEqual(runs)
    await get({ documentId: hash("sha256", addFolder), variables: '{"input":{"name":"A"}}' }).expect(405)
  })

  it("runs over a socket, by its text and its id", async () => {
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    for (const [, body] of spellings) {
      const id = randomUUID()
      socket.send({ id, type: "subscribe", payload: { query: "", ...body } })
      await until(
        "the operation is answered",
        () => socket.heard.some((message) => message.id === id),
        () => socket.heard,
      )
      expect(socket.heard.find((message) => message.id === id)).toEqual({ id, type: "next", payload: runs })
    }
    socket.socket.terminate()
  })

  it("may be a mutation, an upload or a subscription", async () => {
    const heard = await subscribe(w, acme.token)
    const chat = await acme.chat()
    expect(await heard.next()).toMatchObject({ type: "CHAT_CREATED", payload: { id: chat.id } })
    await heard.stop()

    const added = await post({ documentId: hash("sha256", addFolder), variables: { input: { name: "Mine" } } }).expect(200)
    expect(added.body).toEqual({ data: { createChatFolder: { name: "Mine" } } })
    await rest
      .as(acme.token)
      .delete(`/api/chat-folders/${(await post({ query: folders })).body.data.chatFolders[0].id}`)
      .expect(200)

    for (const named of [{ query: upload }, { documentId: hash("sha256", upload) }]) {
      const { body } = await multipart(named).expect(200)
      expect(body.data.uploadMedia).toMatchObject({ filename: "a.png" })
    }
  })
})

const multipart = (named: object) =>
  supertest(w.url)
    .post("/graphql")
    .set("X-Access-Token", acme.token)
    .field("operations", JSON.stringify({ ...named, variables: { file: null } }))
    .field("map", JSON.stringify({ 0: ["variables.file"] }))
    .attach("0", samples.png, { filename: "a.png", contentType: "image/png" })

describe("with a manifest, what is not listed", () => {
  it.each(strange)("is 400 over HTTP: %s", async (_name, body) => {
    for (const accept of ["application/json", "application/graphql-response+json", "*/*"]) {
      const answer = await post(body, w.url, accept).expect(400)
      expect(answer.body).toEqual({ errors: [expect.objectContaining({ extensions: refused })] })
    }
  })

  it("is 400 over GET and as a multipart request", async () => {
    const { body } = await get({ query: "{ __typename }" }).expect(400)
    expect(body.errors[0].extensions).toEqual(refused)
    expect((await get({ documentId: "nothing" }).expect(400)).body.errors[0].extensions).toEqual(refused)
    const answer = await multipart({ query: uploadMutation.replace("filename", "filename companyId") }).expect(400)
    expect(answer.body.errors[0].extensions).toEqual(refused)
  })

  it("is an error over a socket, which stays open", async () => {
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    for (const [, body] of strange) {
      const id = randomUUID()
      socket.send({ id, type: "subscribe", payload: { query: "", ...body } })
      await until(
        "the operation is answered",
        () => socket.heard.some((message) => message.id === id),
        () => socket.heard,
      )
      expect(socket.heard.find((message) => message.id === id)).toMatchObject({ type: "error", payload: [{ extensions: refused }] })
    }
    const [, complete] = await socket.ask(folders)
    expect(complete.type).toBe("complete")
    socket.socket.terminate()
  })

  it("runs on another server without a manifest, and stays refused here", async () => {
    const open = await w.another({ TRUSTED_DOCUMENTS: "" })
    const body = { query: "{ chatFolders { id } }" }
    expect((await post(body, open.url).expect(200)).body).toEqual(runs)
    await post(body).expect(400)
  })

  it("runs as a tool of an agent", async () => {
    const { structuredContent } = await mcpClient(() => w.url, acme.token).call("list_assistants")
    expect(structuredContent.nodes.map(({ id }: { id: string }) => id)).toEqual([acme.assistant.id])
  })

  it("runs as a REST route", async () => {
    await rest.as(acme.token).get("/api/chats").expect(200)
    await acme.message({ chatId: (await acme.chat()).id })
    await rest.anonymous.post("/api/auth/sign-in", { email: acme.owner.email, password: "correct horse battery" }).expect(200)
  })

  it("without any operation is 400 as ever", async () => {
    expect((await post({}).expect(400)).body.errors[0].extensions.code).toBe("BAD_USER_INPUT")
    const { body, status } = await get({ extensions: "{ broken" })
    const open = await w.another({ TRUSTED_DOCUMENTS: "" })
    const usual = await supertest(open.url).get("/graphql").set("X-Access-Token", acme.token)
    expect([status, body.data, body.errors[0].extensions.code]).toEqual([usual.status, undefined, "BAD_USER_INPUT"])
  })
})

describe("a manifest", () => {
  const md5 = hash("md5", folders)
  const sha1 = hash("sha1", folders)

  it.each([
    ["Relay, with MD5", { [md5]: folders }, { id: md5 }],
    ["Relay, with SHA-256", { [hash("sha256", folders)]: folders }, apq(hash("sha256", folders))],
    ["The Guild's client preset", { [sha1]: folders, [hash("sha1", addFolder)]: addFolder }, { documentId: sha1 }],
    [
      "The Guild's client preset with a prefix",
      { [`sha256:${hash("sha256", folders)}`]: folders },
      { documentId: hash("sha256", folders) },
    ],
  ])("may be in the format of %s", async (_name, manifest, body) => {
    const server = await w.another({ TRUSTED_DOCUMENTS: written(manifest) })
    expect((await post(body, server.url).expect(200)).body).toEqual(runs)
    await post({ query: "{ __typename }" }, server.url).expect(400)
  })

  it("may list introspection, unless the schema is hidden", async () => {
    const manifest = written(apollo(operation(normal(getIntrospectionQuery()))))
    const server = await w.another({ TRUSTED_DOCUMENTS: manifest })
    expect((await post({ query: getIntrospectionQuery() }, server.url).expect(200)).body.data.__schema).toBeDefined()
    await expect(w.another({ TRUSTED_DOCUMENTS: manifest, GRAPHQL_INTROSPECTION: "off" })).rejects.toThrow(/introspection/)
  })

  it.each([
    ["that is missing", join(folder, "nothing.json"), /cannot be read: ENOENT$/],
    ["that is a folder", folder, /cannot be read: EISDIR$/],
    ["that is not JSON", written("{ broken"), /is not JSON$/],
    ["of another format", written({ operations: [] }), /is no manifest of Apollo/],
    ["of another version", written({ ...apollo(), version: 2 }), /is no manifest of Apollo/],
    ["that is a list", written([folders]), /is no manifest of Apollo/],
    ["with an unknown field", written(apollo(operation("{ nothing }", "op-1"))), /cannot run, op-1: Cannot query field "nothing"/],
    ["with a syntax error", written({ a1: "{ me {\n id" }), /cannot run, a1: Syntax Error/],
    [
      "with too many root fields",
      written({ a1: `{ ${"a: __typename ".repeat(31)} }` }),
      /cannot run, a1: The operation has 31 root fields/,
    ],
    [
      "with two documents of one id",
      written(apollo(operation(folders, "x"), operation(addFolder, "x"))),
      /has two documents with the ID x$/,
    ],
  ])("%s stops the start with one line", async (_name, TRUSTED_DOCUMENTS, words) => {
    const error: Error = await w.another({ TRUSTED_DOCUMENTS }).then(
      () => Promise.reject(new Error("The server started")),
      (failed) => failed,
    )
    expect(error.message).toMatch(words)
    expect(error.message).toMatch(/^TRUSTED_DOCUMENTS: [^\n]+$/)
    expect(error.stack).toBeUndefined()
  })
})
