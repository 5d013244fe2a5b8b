import { contextLimits } from "../../src/context/limits.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql, sql } = w
const most = contextLimits.plainListRows
const columns = "id, company_id, created_at, updated_at"
const values = "gen_random_uuid(), $1, now(), now()"

/** What a company has in lists without pages; `insert` adds `$2` rows. */
const kinds = [
  {
    nouns: "access tokens",
    insert: `insert into access_token (${columns}, name, digest, token_prefix) select ${values}, 'x', gen_random_uuid()::text, 'amp_' from generate_series(1, $2)`,
    create: (companyId: string, name: string) => `createAccessToken(companyId: "${companyId}", name: "${name}")`,
  },
  {
    nouns: "chat tags",
    insert: `insert into chat_tag (${columns}, name, color) select ${values}, 'tag ' || n, '#808080' from generate_series(1, $2) n`,
    create: (companyId: string, name: string) => `createChatTag(input: { companyId: "${companyId}", name: "${name}" })`,
  },
  {
    nouns: "chat folders",
    insert: `insert into chat_folder (${columns}, name, color) select ${values}, 'x', '#808080' from generate_series(1, $2)`,
    create: (companyId: string, name: string) => `createChatFolder(input: { companyId: "${companyId}", name: "${name}" })`,
  },
  {
    nouns: "assistant folders",
    insert: `insert into assistant_folder (${columns}, name) select ${values}, 'x' from generate_series(1, $2)`,
    create: (companyId: string, name: string) => `createAssistantFolder(input: { companyId: "${companyId}", name: "${name}" })`,
  },
]

describe.each(kinds)("$nouns of a company", ({ nouns, insert, create }) => {
  promised("are 5,000 at most, also when several are created at once; another company is not concerned", async () => {
    const [, , table] = insert.split(" ")
    const [{ count }] = await sql(`select count(*)::integer as count from ${table} where company_id = $1`, [acme.id])
    await sql(insert, [acme.id, most - count - 2])
    const message = async ({ id, owner }: typeof acme, name: string) =>
      (await gql({ Authorization: `Bearer ${owner.jwt}` }, `mutation { ${create(id, name)} { id } }`)).errors?.[0]?.message ?? ""
    const refused = `A company has at most 5000 ${nouns}`
    const messages = await Promise.all(["a", "b", "c", "d", "e"].map((name) => message(acme, name)))
    expect(messages.sort()).toEqual(["", "", refused, refused, refused])
    expect([await message(acme, "one more"), await message(globex, "another's")]).toEqual([refused, ""])
  })
})

it("a label that would be a further tag is refused; one that exists is added", async () => {
  const chat = await acme.chat()
  const label = (name: string) => rest.as(acme.token).post(`/api/chats/${chat.id}/meta/labels`, { label: name })
  expect((await label("new").expect(400)).body.message).toBe("A company has at most 5000 chat tags")
  expect((await label("TAG 7").expect(201)).body.meta.labels).toEqual(["tag 7"])
})

it("a revoked access token makes room for another one", async () => {
  const as = rest.as({ Authorization: `Bearer ${acme.owner.jwt}` })
  const tokens = `/api/companies/${acme.id}/access-tokens`
  const [{ id }] = (await as.get(tokens).expect(200)).body
  await as.post(tokens, { name: "one more" }).expect(400)
  await as.delete(`${tokens}/${id}`).expect(200)
  await as.post(tokens, { name: "one more" }).expect(201)
})

it("a chat has 200 comments at most", async () => {
  const chat = await acme.chat()
  const one = { id: "0199aaaa-0000-7000-8000-000000000000", text: "x", authorId: null, createdAt: new Date().toISOString() }
  await sql("update chat set comments = $2 where id = $1", [chat.id, JSON.stringify(Array(199).fill(one))])
  const comments = `/api/chats/${chat.id}/meta/comments`
  const answers = await Promise.all(["a", "b"].map((text) => rest.as(acme.token).post(comments, { text })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
  expect((await rest.as(acme.token).post(comments, { text: "c" }).expect(400)).body.message).toBe("A chat has at most 200 comments")
})

it("an assistant has 1,000 excluded tags at most", async () => {
  const assistant = (count: number) => rest.as(acme.token).post("/api/assistants-new", { name: "A", excludedTags: Array(count).fill("x") })
  expect((await assistant(1_001).expect(400)).body.details).toEqual([{ path: "excludedTags", message: "must have at most 1000 names" }])
  await assistant(1_000).expect(201)
})
