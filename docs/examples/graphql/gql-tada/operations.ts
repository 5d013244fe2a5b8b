import { graphql } from "./graphql.ts"

export const firstAssistant = graphql(`
  query FirstAssistant {
    assistants(take: 1) {
      nodes {
        id
        name
      }
    }
  }
`)

/** The chats that fit the filter, page by page: $after is the endCursor of the page before. */
export const chats = graphql(`
  query Chats($where: ChatWhere!, $first: Int!, $after: String) {
    chats(where: $where, first: $first, after: $after) {
      nodes {
        id
        name
        lastMessageAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`)

export const createChat = graphql(`
  mutation CreateChat($input: CreateChatInput!) {
    createChat(input: $input) {
      id
      name
      messenger
      isUnderAiControl
    }
  }
`)

/** Turns AI off, so that a person answers. */
export const takeOver = graphql(`
  mutation TakeOver($id: UUID!) {
    setAiControl(id: $id, isUnderAiControl: false, aiDisableReason: MANUAL) {
      isUnderAiControl
      aiDisableReason
    }
  }
`)

export const sendMessage = graphql(`
  mutation SendMessage($input: CreateMessageInput!) {
    createMessage(input: $input) {
      id
      createdAt
      role
      text
    }
  }
`)

/** $after is the ID of the last event that was processed: what came after it is sent first. */
export const events = graphql(`
  subscription Events($types: [EventType!], $after: String) {
    events(types: $types, after: $after) {
      id
      type
      createdAt
      payload
      message {
        role
        text
      }
    }
  }
`)
