/** Examples of what only a channel, a vendor or a tool brings, which no recorded answer has. */
export const componentExamples: Record<string, unknown> = {
  FunctionCall: { callId: "0197a3c0-8f00-7000-8000-000000000101", name: "findOrder", arguments: { order: 1042 } },
  FunctionCallOutput: {
    callId: "0197a3c0-8f00-7000-8000-000000000101",
    output: { order: 1042, state: "on its way" },
    status: "succeeded",
  },
  MessageSender: { externalId: "380441234567", name: "Olena" },
  MessageTemplateInput: {
    name: "order_on_its_way",
    language: "en_US",
    components: [{ type: "body", parameters: [{ type: "text", text: "1042" }] }],
  },
  McpClientCredentialsInput: {
    clientId: "platform",
    clientSecret: "secret of the client",
    scope: "orders.read",
    issuer: "https://login.shop.example.com",
  },
  ScopeGuardrailInput: { customer: "log", answer: "block", outOfScope: "Medical or legal advice." },
}
