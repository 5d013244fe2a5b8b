import { type FakeModel, startFakeModel } from "./fake-openai.js"

/** Starts a fake Anthropic (`POST /v1/messages`) that answers "ok" until told otherwise; its controls are those of the fake OpenAI. */
export function startFakeAnthropic(): Promise<FakeModel> {
  return startFakeModel("/v1/messages", ({ text, toolCalls = [] }, { body }) => ({
    id: "msg_fake",
    type: "message",
    role: "assistant",
    model: body.model,
    content: [
      ...(text ? [{ type: "text", text }] : []),
      ...toolCalls.map(({ id, name, arguments: input = {} }, index) => ({
        type: "tool_use",
        id: id ?? `toolu_${Date.now().toString(36)}_${index}`,
        name,
        input,
      })),
    ],
    stop_reason: toolCalls.length ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 7 },
  }))
}
