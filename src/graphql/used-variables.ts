import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode, visit } from "graphql"
import { oncePer } from "../once-per.js"
import type { PreparedOperation } from "./engine.js"
import type { Variables } from "./operation-cost.js"

/** The variables on which the result of an execution depends, as text: those of a subscription's arguments choose its events alone. */
export const variablesOfResult = (prepared: PreparedOperation, variables: Variables): string =>
  JSON.stringify(namesOf(prepared).map((name) => variables[name]))

const namesOf = oncePer(({ document, operation }: PreparedOperation): string[] => {
  const names = new Set<string>()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION && definition !== operation) continue
    visit(definition === operation ? withoutArguments(operation) : definition, { Variable: ({ name }) => void names.add(name.value) })
  }
  // Those that have only a default value too, since the text of the operation is the same.
  return [...names].sort()
})

/** The operation without its variables' definitions and without the arguments of its root fields. */
const withoutArguments = (operation: OperationDefinitionNode): OperationDefinitionNode => ({
  ...operation,
  variableDefinitions: [],
  selectionSet: {
    ...operation.selectionSet,
    selections: operation.selectionSet.selections.map(
      (each: SelectionNode): SelectionNode => (each.kind === Kind.FIELD ? ({ ...each, arguments: [] } satisfies FieldNode) : each),
    ),
  },
})
