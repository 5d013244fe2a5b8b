import { type FakeModel, type FakeModelRequest, type FakeWords, piecesOf, startFakeModel } from "./fake-openai.js"

/** Starts a fake Anthropic (`POST /v1/messages`) that answers "ok" by default; it is controlled like the fake OpenAI. */
export function startFakeAnthropic(): Promise<FakeModel> {
  return startFakeModel("/v1/messages", { whole, stream })
}

const callsOf = ({ toolCalls = [] }: FakeWords) =>
  toolCalls.map(({ id, name, arguments: input = {} }, index) => ({
    type: "tool_use",
    id: id ?? `toolu_${Date.now().toString(36)}_${index}`,
    name,
    input,
  }))

const stopReason = ({ toolCalls }: FakeWords) => (toolCalls?.length ? "tool_use" : "end_turn")

const messageOf = ({ body }: FakeModelRequest) => ({
  id: "msg_fake",
  type: "message",
  role: "assistant",
  model: body.model,
  stop_sequence: null,
})

function whole(words: FakeWords, request: FakeModelRequest) {
  const content = [...(words.text ? [{ type: "text", text: words.text }] : []), ...callsOf(words)]
  return { ...messageOf(request), content, stop_reason: stopReason(words), usage: { input_tokens: 11, output_tokens: 7 } }
}

async function* stream(words: FakeWords, request: FakeModelRequest) {
  const message = { ...messageOf(request), content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 0 } }
  yield { type: "message_start", message }
  yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }
  for await (const text of piecesOf(words))
    yield text === "reset" || text === "end" ? text : { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }
  yield { type: "content_block_stop", index: 0 }
  for (const [at, { input, ...call }] of callsOf(words).entries()) {
    const index = at + 1
    yield { type: "content_block_start", index, content_block: { ...call, input: {} } }
    yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } }
    yield { type: "content_block_stop", index }
  }
  yield { type: "message_delta", delta: { stop_reason: stopReason(words), stop_sequence: null }, usage: { output_tokens: 7 } }
  yield { type: "message_stop" }
}
