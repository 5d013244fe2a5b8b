import { type GraphQLObjectType, type GraphQLSchema, getNamedType, isLeafType, isObjectType, type OperationTypeNode } from "graphql"

/**
 * An operation for each root field of a schema, with all of its arguments as variables; together they select every field of every type. A field that
 * leads to a type whose fields were selected before has only those that are no objects.
 * @example everyOperation(buildSchema("type Query { me(id: ID!): String }")) // query EveryMe($idValue: ID!) { me(id: $idValue) }
 */
export function everyOperation(schema: GraphQLSchema): string[] {
  const selected = new Set<GraphQLObjectType>()
  const fieldsOf = (type: GraphQLObjectType): string => {
    const isFirst = !selected.has(type)
    selected.add(type)
    const fields = Object.values(type.getFields()).filter(({ type }) => isFirst || isLeafType(getNamedType(type)))
    return fields.length > 0 ? fields.map(({ name, type }) => name + selectionOf(getNamedType(type))).join(" ") : "__typename"
  }
  const selectionOf = (type: ReturnType<typeof getNamedType>) => (isObjectType(type) ? ` { ${fieldsOf(type)} }` : "")
  return (["query", "mutation", "subscription"] as OperationTypeNode[]).flatMap((kind) =>
    Object.values(schema.getRootType(kind)?.getFields() ?? {}).map(({ name, args, type }) => {
      // Not `$type`: some languages have no variable of this name.
      const variables = args.map((arg) => `$${arg.name}Value: ${arg.type}`).join(", ")
      const values = args.map((arg) => `${arg.name}: $${arg.name}Value`).join(", ")
      const [declared, given] = args.length > 0 ? [`(${variables})`, `(${values})`] : ["", ""]
      return `${kind} Every${name[0]!.toUpperCase()}${name.slice(1)}${declared} { ${name}${given}${selectionOf(getNamedType(type))} }`
    }),
  )
}
