import type { UnitOfWork } from "../database/unit-of-work.js"
import { AssistantTurn } from "../entities/assistant-turn.js"
import type { Chat } from "../entities/chat.js"
import { ControlChange } from "../entities/control-change.js"
import { Message } from "../entities/message.js"
import { assistantLimits } from "./limits.js"

/** Notes for the model about hand-offs and returns: those since its last turn, and those of the context window. */
export async function notesOf(unit: UnitOfWork, chat: Chat, since: Date, now: Date): Promise<string[]> {
  const read = { chatId: chat.id, outcome: { $in: ["answered", "handed_off"] as const } }
  const last = await unit.em.findOne(AssistantTurn, read, { orderBy: { startedAt: "desc" } })
  const from = new Date(Math.min(since.getTime(), last?.startedAt.getTime() ?? 0))
  const newest = { orderBy: { createdAt: "desc", id: "desc" }, limit: assistantLimits.contextNotes } as const
  const changes = (await unit.em.find(ControlChange, { chatId: chat.id, createdAt: { $gte: from } }, newest)).reverse()
  const notes: string[] = []
  for (const [index, change] of changes.entries()) {
    const note = `${moment(change.createdAt, now)} ${inWords(change)}`
    notes.push(cameBack(change) ? `${note} ${await meanwhile(unit, chat, changes[index - 1], change)}` : note)
  }
  return notes
}

/** Only an automatic return has the system as its actor. */
const cameBack = (change: ControlChange) => change.isUnderAiControl && change.actorKind === "system"

function inWords(change: ControlChange): string {
  if (cameBack(change))
    return "the chat came back to you after nobody had written for a while. What was said before is archived: you do not see it."
  if (change.isUnderAiControl) return "the chat was given to you."
  if (change.actorKind === "assistant") return "you handed the chat over to a human colleague."
  if (change.actorKind === "system") return "the chat was left to a human colleague, because you could not answer."
  return "a human colleague took the chat over."
}

/** Messages of a colleague before an automatic return are archived; the note says whether there were any. */
async function meanwhile(unit: UnitOfWork, chat: Chat, off: ControlChange | undefined, on: ControlChange): Promise<string> {
  const between = { createdAt: { ...(off && { $gte: off.createdAt }), $lt: on.createdAt } }
  const newest = { $gt: chat.lastSequence - assistantLimits.contextMessages }
  const wrote = await unit.em.count(Message, { chatId: chat.id, role: "User", sequence: newest, ...between })
  return wrote > 0 ? "Meanwhile a human colleague wrote to the customer." : "Meanwhile no human colleague wrote to the customer."
}

/** The time for today, else date and time. */
function moment(time: Date, now: Date): string {
  const [day, clock] = time.toISOString().slice(0, 16).split("T")
  return now.toISOString().startsWith(day!) ? `At ${clock} UTC` : `On ${day} at ${clock} UTC`
}
