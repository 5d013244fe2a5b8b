import { chats, createChat, firstAssistant, sendMessage, takeOver } from "./operations.ts"
import { execute } from "./platform.ts"

const [assistant] = (await execute(firstAssistant, {})).assistants.nodes
if (!assistant) throw new Error("The company has no assistant")
console.log(`assistant: ${assistant.name}`)

/** Prints a page of the chats of the playground; returns the cursor of the next page, or null after the last one. */
async function printPage(number: number, after: string | null): Promise<string | null> {
  const { nodes, pageInfo } = (await execute(chats, { where: { messenger: { eq: "PLAYGROUND" } }, first: 2, after })).chats
  console.log(`page ${number}: ${nodes.map((chat) => chat.name).join(", ")}`)
  return pageInfo.hasNextPage ? pageInfo.endCursor : null
}
const next = await printPage(1, null)
if (next) await printPage(2, next)

const { createChat: chat } = await execute(createChat, {
  input: { messenger: "PLAYGROUND", fromId: "example", name: "Dora", assistantId: assistant.id },
})
console.log(`created: ${chat.name} on ${chat.messenger}, AI is ${chat.isUnderAiControl ? "on" : "off"}`)

const { setAiControl: taken } = await execute(takeOver, { id: chat.id })
console.log(`taken over: AI is ${taken.isUnderAiControl ? "on" : "off"}, ${taken.aiDisableReason}`)

const { createMessage: message } = await execute(sendMessage, { input: { chatId: chat.id, text: "Hello, Dora!" } })
console.log(`sent: ${message.text} (${message.role})`)
