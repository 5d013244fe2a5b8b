/** Why the messages of a chat cannot be delivered at all. */
export const undeliverable = {
  noCustomer: "The chat has no ID of a customer",
  noConnection: (messenger: string, fromId: string) => `The company has no active connection to ${messenger} for ${fromId}`,
}
