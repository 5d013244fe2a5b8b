import type { GraphQLSchema } from "graphql"
import type { OperationEngine } from "../../graphql/engine.js"
import { type DeclaredOperation, declaredOperation } from "../../rest/kit/operation.js"

/** One tool as data: what a model is told about it, and its operation. */
export interface ToolRow {
  /** Name for people. */
  title: string
  /** What the tool does, when to use it and what it returns, for a model. */
  description: string
  /** GraphQL operation with one root field; its variables are the arguments, except `$idempotencyKey`. */
  document: string
  /** Descriptions of arguments that the schema does not describe, or not in words for a model. */
  arguments?: Record<string, string>
  /** Arguments that must be given although they may be null. */
  nullable?: string[]
  /** What a mutation does besides adding something; a query only reads. */
  effects?: {
    /** Replaces something that is lost then. */
    replaces?: boolean
    /** A repetition with the same arguments changes nothing more. */
    repeatable?: boolean
    /** Reaches people or servers outside the platform. */
    leavesPlatform?: boolean
  }
}

/** A tool with its prepared operation. */
export interface Tool extends ToolRow {
  name: string
  operation: DeclaredOperation
}

/** Variable for the idempotency key of a call, which is no argument. */
export const keyVariable = "idempotencyKey"

/** Prepares the tools at start, on the schema with the words of REST; throws when an operation does not fit the schema. */
export const prepareTools = (engine: OperationEngine, schema: GraphQLSchema, table: Record<string, ToolRow>): Tool[] =>
  Object.entries(table).map(([name, row]) => ({
    ...row,
    name,
    operation: declaredOperation(engine, schema, row.document, "mcp", `MCP tool ${name}`),
  }))

/** Whether a tool only reads, so that a read-only access token may call it. */
export const onlyReads = ({ operation }: Tool): boolean => operation.kind === "query"
