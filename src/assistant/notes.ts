import type { EntityManager } from "@mikro-orm/postgresql"
import { AssistantTurn } from "../entities/assistant-turn.js"
import { ControlChange } from "../entities/control-change.js"
import { Message } from "../entities/message.js"
import { assistantLimits } from "./limits.js"

/** The turn that the notes are for: its chat, the sequence of the last message, and the begin of the context window. */
interface Noted {
  chatId: string
  lastSequence: number
  since: Date
  now: Date
}

/** Notes for the model about hand-offs and returns: those since its last turn, and those of the context window. */
export async function notesOf(em: EntityManager, { chatId, lastSequence, since, now }: Noted): Promise<string[]> {
  const read = { chatId, outcome: { $in: ["answered", "handed_off"] as const } }
  const last = await em.findOne(AssistantTurn, read, { orderBy: { startedAt: "desc" } })
  const from = new Date(Math.min(since.getTime(), last?.startedAt.getTime() ?? 0))
  const newest = { orderBy: { createdAt: "desc", id: "desc" }, limit: assistantLimits.contextNotes } as const
  const changes = (await em.find(ControlChange, { chatId, createdAt: { $gte: from } }, newest)).reverse()
  const notes: string[] = []
  for (const [index, change] of changes.entries()) {
    const note = `${moment(change.createdAt, now)} ${inWords(change)}`
    notes.push(cameBack(change) ? `${note} ${await meanwhile(em, chatId, lastSequence, changes[index - 1], change)}` : note)
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
async function meanwhile(
  em: EntityManager,
  chatId: string,
  lastSequence: number,
  off: ControlChange | undefined,
  on: ControlChange,
): Promise<string> {
  const between = { createdAt: { ...(off && { $gte: off.createdAt }), $lt: on.createdAt } }
  const newest = { $gt: lastSequence - assistantLimits.contextMessages }
  const wrote = await em.count(Message, { chatId, role: "User", sequence: newest, ...between })
  return wrote > 0 ? "Meanwhile a human colleague wrote to the customer." : "Meanwhile no human colleague wrote to the customer."
}

/** The time for today, else date and time. */
function moment(time: Date, now: Date): string {
  const [day, clock] = time.toISOString().slice(0, 16).split("T")
  return now.toISOString().startsWith(day!) ? `At ${clock} UTC` : `On ${day} at ${clock} UTC`
}
