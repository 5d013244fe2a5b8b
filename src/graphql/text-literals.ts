import {
  type ASTVisitor,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  type OperationDefinitionNode,
  typeFromAST,
  type ValidationContext,
  valueFromASTUntyped,
} from "graphql"
import type { Detail } from "../errors/errors.js"
import type { Variables } from "./operation-cost.js"
import { mayHaveTexts, readText, textsRefused } from "./texts.js"

/** Rule of validation: texts in the literal of an input are within their limits, as other values of a literal are valid. */
export function TextLengthRule(context: ValidationContext): ASTVisitor {
  return {
    ObjectField(node) {
      const parent = getNamedType(context.getParentInputType())
      const field = isInputObjectType(parent) ? parent.getFields()[node.name.value] : undefined
      if (!field || mayHaveTexts(field.type)) return
      const details: Detail[] = []
      // A variable is undefined here.
      readText(valueFromASTUntyped(node.value), field, field.name, details)
      if (details.length === 0) return
      const error = textsRefused(details)
      context.reportError(new GraphQLError(error.message, { nodes: [node.value], originalError: error }))
    },
  }
}

/** Returns the function that refuses variables of an operation that have texts beyond their limits. */
export function textsOfVariables(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode) {
  const inputs = variableDefinitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node as never) as GraphQLInputType | undefined
    return type && mayHaveTexts(type) ? [{ name: variable.name.value, type, extensions: {} }] : []
  })
  return (variables: Variables) => {
    if (inputs.length === 0) return
    const details: Detail[] = []
    for (const input of inputs) readText(variables[input.name], input, input.name, details)
    if (details.length > 0) throw textsRefused(details)
  }
}
