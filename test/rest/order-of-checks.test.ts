import { v7 } from "uuid"
import { bothProtocols } from "../kit/both-protocols.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, gql } = w

const ids: Record<string, string> = {}

beforeAll(async () => {
  const [chat, group, theirs] = [await acme.chat(), await acme.chat({ chatType: "group" }), await globex.chat()]
  Object.assign(ids, { chat: chat.id, group: group.id, theirs: theirs.id, nobodys: v7(), globex: globex.id, assistant: acme.assistant.id })
  Object.assign(ids, { theirFolder: (await globex.folder()).id, theirTag: (await globex.tag()).id, theirAssistant: globex.assistant.id })
  Object.assign(ids, { theirItem: globex.knowledge.id })
  Object.assign(ids, { draft: (await acme.makeAssistant({ isDraft: true })).id })
  await acme.subscription(null)
})

type Method = "get" | "post" | "put" | "patch" | "delete"

/** `{theirs}` is the id of that name, in addresses and bodies. */
const filled = (text: string) => text.replace(/\{(\w+)\}/g, (all, name: string) => ids[name] ?? all)

/** Faults in the order of their checks: bad input, missing, forbidden, business rule. */
const cases: [string, Method, string, object | undefined, number, string?][] = [
  ["a malformed body is told before a foreign chat", "patch", "/api/chats/{theirs}/folder", { folderId: "x" }, 400, "folderId"],
  ["so is a missing field", "patch", "/api/chats/{theirs}/folder", {}, 400, "folderId"],
  ["so is null for what is never empty", "patch", "/api/chats/{theirs}", { isUnderAiControl: null }, 400, "isUnderAiControl"],
  ["also of a folder", "patch", "/api/chat-folders/{theirFolder}", { name: null }, 400, "name"],
  ["also of a tag", "patch", "/api/chat-tags/{theirTag}", { color: null }, 400, "color"],
  ["also of an assistant", "patch", "/api/assistants-new/{theirAssistant}", { name: null }, 400, "name"],
  ["so is an assistant's temperature", "patch", "/api/assistants-new/{theirAssistant}", { temperature: 7 }, 400, "temperature"],
  ["so is null for a knowledge item's name", "patch", "/api/assistant-knowledge-new/{theirItem}", { name: null }, 400, "name"],
  ["so is a label too long", "post", "/api/chats/{theirs}/meta/labels", { label: "x".repeat(65) }, 400, "label"],
  ["so is a comment without text", "post", "/api/chats/{theirs}/meta/comments", { text: " " }, 400, "text"],
  ["so is a tag that is no id", "put", "/api/chats/{theirs}/tags", { tagIds: ["x"] }, 400],
  ["and a foreign chat before a foreign folder", "patch", "/api/chats/{theirs}/folder", { folderId: "{theirFolder}" }, 404],
  ["before a foreign tag", "post", "/api/chats/{theirs}/tags", { tagId: "{theirTag}" }, 404],
  ["before a foreign assistant", "patch", "/api/chats/{theirs}/assign-assistant", { assistantId: "{theirAssistant}" }, 404],
  ["before a missing subscription", "patch", "/api/chats/{nobodys}/ai-control", { isUnderAiControl: true }, 404],
  ["a foreign folder in a body is 400", "patch", "/api/chats/{chat}/folder", { folderId: "{theirFolder}" }, 400, "folderId"],
  ["so is a foreign tag", "post", "/api/chats/{chat}/tags", { tagId: "{theirTag}" }, 400, "tagId"],
  ["so is a foreign assistant", "patch", "/api/chats/{chat}/assign-assistant", { assistantId: "{theirAssistant}" }, 400, "assistantId"],
  ["a group is told before a missing subscription", "patch", "/api/chats/{group}/ai-control", { isUnderAiControl: true }, 400],
  ["which is 403", "patch", "/api/chats/{chat}/ai-control", { isUnderAiControl: true }, 403],
  ["and is not asked for to turn it off", "patch", "/api/chats/{group}/ai-control", { isUnderAiControl: false }, 200],
  ["nor to assign", "patch", "/api/chats/{chat}/assign-assistant", { assistantId: "{assistant}" }, 200],
  ["a draft is 400", "patch", "/api/chats/{chat}/assign-assistant", { assistantId: "{draft}" }, 400],
  ["a bad name is told before a foreign company", "post", "/api/chat-folders", { companyId: "{globex}", name: "" }, 400, "name"],
  ["which is told before a tag's name that is taken", "post", "/api/chat-tags", { companyId: "{globex}", name: "VIP" }, 403],
  [
    "and before a group with an assistant",
    "post",
    "/api/chats",
    { companyId: "{globex}", messenger: "olx", fromId: "x", chatType: "group", assistantId: "{assistant}" },
    403,
  ],
  ["a bad role is told before a foreign chat", "post", "/api/messages", { chatId: "{theirs}", role: "Assistant", text: "x" }, 400, "role"],
  ["so is an empty message", "post", "/api/messages", { chatId: "{theirs}", text: " " }, 400, "text"],
  ["a foreign chat before unknown files", "post", "/api/messages", { chatId: "{theirs}", mediaIds: ["{nobodys}"] }, 403],
  [
    "and before an unknown message that is quoted",
    "post",
    "/api/messages",
    { chatId: "{nobodys}", text: "x", replyToMessageId: "{nobodys}" },
    403,
  ],
  ["a bad cursor is told before a foreign chat", "get", "/api/messages?chatId={theirs}&cursor=zz", undefined, 400, "cursor"],
  ["so is a page of none", "get", "/api/messages?chatId={theirs}&take=0", undefined, 400],
  ["so is a page of none of another company's", "get", "/api/assistants-new?companyId={globex}&take=0", undefined, 400],
  ["so is skip beside a cursor", "get", "/api/messages?chatId={theirs}&cursor=zz&skip=0", undefined, 400, "cursor"],
  ["a foreign chat is 403", "get", "/api/messages?chatId={theirs}", undefined, 403],
  ["a bad cursor is told before a foreign company", "get", "/api/chats?companyId={globex}&cursor=zz", undefined, 400, "cursor"],
  ["so is a bad filter", "get", "/api/chats?companyId={globex}&filter=x", undefined, 400, "filter"],
  ["so is me, who is nobody under a token", "get", "/api/chats?companyId={globex}&managerId=me", undefined, 400, "managerId"],
  ["a foreign company is 403", "get", "/api/chats?companyId={globex}&assistantId={theirAssistant}", undefined, 403],
  ["a foreign assistant in a list finds nothing", "get", "/api/chats?assistantId={theirAssistant}", undefined, 200],
  ["so do a foreign folder and tag", "get", "/api/chats?filter=folderId:eq:{theirFolder};tagIds:in:{theirTag}", undefined, 200],
  ["removing a missing tag succeeds", "delete", "/api/chats/{chat}/tags/{theirTag}", undefined, 200],
  ["a comment too", "delete", "/api/chats/{chat}/meta/comments/{nobodys}", undefined, 200],
]

describe("over both protocols", () => {
  const rest = bothProtocols(w)
  const ask = (method: Method, path: string, body?: object) =>
    rest.as(acme.token)[method as "post"](filled(path), body && JSON.parse(filled(JSON.stringify(body))))

  it.each(cases.map(([says, ...rest]) => [says, rest] as const))("%s", async (_says, [method, path, body, status, field]) => {
    const answer = await ask(method, path, body).expect(status)
    if (field) expect(answer.body.details).toMatchObject([{ path: field }])
    if (status === 200 && method === "get") expect(answer.body.data).toEqual([])
  })

  it("credentials are checked first", async () => {
    for (const [, method, path, body] of cases) await rest.as("no.such.jwt")[method as "post"](filled(path), body).expect(401)
  })
})

describe("assignManager, which REST has in PATCH", () => {
  const assign = (id: string, managerId: string) =>
    gql(acme.token, `mutation { assignManager(id: "${id}"${managerId && `, managerId: ${managerId}`}) { managerId manager { id } } }`)

  it("assigns a member, and null", async () => {
    const { data } = await assign(ids["chat"]!, `"${acme.member.id.toUpperCase()}"`)
    expect(data.assignManager).toEqual({ managerId: acme.member.id, manager: { id: acme.member.id } })
    expect((await assign(ids["chat"]!, "null")).data.assignManager).toEqual({ managerId: null, manager: null })
  })

  it("refuses in the same order: without a manager, another company's chat, a user of no company", async () => {
    const refusal = async (id: string, managerId: string) => (await assign(id, managerId)).errors![0]!.extensions
    for (const id of [ids["chat"]!, ids["theirs"]!])
      expect(await refusal(id, "")).toMatchObject({ statusCode: 400, details: [{ path: "managerId", message: "is required" }] })
    expect(await refusal(ids["theirs"]!, `"${globex.owner.id}"`)).toMatchObject({ statusCode: 404, code: "NOT_FOUND" })
    for (const stranger of [globex.owner.id, v7()])
      expect(await refusal(ids["chat"]!, `"${stranger}"`)).toMatchObject({ statusCode: 400, details: [{ path: "managerId" }] })
  })
})

it("null for the name of an assistant folder is refused before a foreign folder", async () => {
  const folder = await gql(globex.token, `mutation { createAssistantFolder(input: { name: "Theirs" }) { id } }`)
  const query = "mutation ($id: UUID!) { updateAssistantFolder(id: $id, input: { name: null }) { id } }"
  const { errors } = await gql(acme.token, query, { id: folder.data.createAssistantFolder.id })
  expect(errors![0]!.extensions).toMatchObject({ statusCode: 400, details: [{ path: "name" }] })
})
