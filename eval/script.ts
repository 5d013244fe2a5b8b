import { readFile } from "node:fs/promises"
import { z } from "zod"

/** A phrase, or several of which the answer has to contain one. */
const fact = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])

const tool = z.strictObject({
  name: z.string(),
  description: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
  /** The endpoint's response as JSON … */
  answers: z.unknown(),
  /** … and its HTTP status. */
  status: z.int().min(200).max(599).default(200),
})

const line = z.strictObject({
  /** The customer's message; several are a burst. */
  customer: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  /** Tools of the script that have to be called, with the arguments to check; an empty list: none may be called. Absent: not checked. */
  tools: z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() })).optional(),
  /** What the answer has to contain, ignoring case. */
  facts: z.array(fact).default([]),
  /** What the answer must not contain. */
  never: z.array(z.string().min(1)).default([]),
  /** The rules of the guardrails that have to hit, as `customer.card` or `answer.links`; an empty list: none may. Absent: not checked. */
  hits: z.array(z.string().regex(/^(customer|answer)\.\w+$/)).optional(),
  /** Whether the assistant has to hand the chat to a person, which ends a conversation; null: it may. */
  handOff: z.boolean().nullable().default(false),
})

/** An item of the knowledge: a text, or a page in HTML that is crawled. */
const item = z.union([
  z.strictObject({ name: z.string(), text: z.string(), searched: z.boolean().default(false) }),
  z.strictObject({ name: z.string(), page: z.string() }),
])

const scriptShape = z.strictObject({
  assistant: z.strictObject({
    name: z.string(),
    prompt: z.string(),
    greeting: z.string().optional(),
    language: z.string().optional(),
    handOffMessage: z.string().optional(),
  }),
  /** The guardrails of the assistant, as `PUT /api/assistants/{assistantId}/guardrails` takes them. */
  guardrails: z.record(z.string(), z.unknown()).optional(),
  /** Whether the file needs a model of a vendor: with the offline model it is skipped. */
  needsVendor: z.boolean().default(false),
  knowledge: z.array(item).default([]),
  tools: z.array(tool).default([]),
  conversations: z
    .array(
      z.strictObject({
        name: z.string(),
        /** Plays the conversation as a call on the simulated line, with these values for placeholders; absent: in a chat. */
        call: z.strictObject({ dynamicVariables: z.record(z.string(), z.unknown()).default({}) }).optional(),
        lines: z.array(line).min(1),
      }),
    )
    .min(1),
})

/** A file of conversations: the assistant, its knowledge and tools, and the expectations. */
export type Script = z.output<typeof scriptShape>
export type Line = Script["conversations"][number]["lines"][number]

/** Reads a file of conversations; throws a sentence for each error in it. */
export async function readScript(file: string): Promise<Script> {
  const read = scriptShape.safeParse(JSON.parse(await readFile(file, "utf8")))
  if (read.success) return read.data
  throw new Error(read.error.issues.map((issue) => `${file}: ${issue.path.join(".") || "the file"}: ${issue.message}`).join("\n"))
}
