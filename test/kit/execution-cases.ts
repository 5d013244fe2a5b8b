import { inspect } from "node:util"
import {
  buildSchema,
  defaultFieldResolver,
  GraphQLEnumType,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  isObjectType,
} from "graphql"

/** An operation on a schema; `C`: graphql-jit runs it, `I`: graphql-js has to. */
export type ExecutionCase = [by: "C" | "I", query: string, variables?: Record<string, unknown>, operationName?: string]

/** Cases on one schema. */
export interface ExecutionCases {
  about: string
  schema: GraphQLSchema
  root?: () => unknown
  cases: ExecutionCase[]
}

/** A schema whose fields call a function of their parent, which the compiler supports only with resolvers. */
function resolving(text: string): GraphQLSchema {
  const schema = buildSchema(text)
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !type.name.startsWith("__"))
      for (const field of Object.values(type.getFields())) field.resolve = defaultFieldResolver
  return schema
}

const failing = (message: string) => () => {
  throw new Error(message)
}

const deepData: object = {
  a: () => "Already Been Done",
  b: () => "Boring",
  c: () => ["Contrived", undefined, "Confusing"],
  deeper: () => [data(), null, data()],
}
const data = (): object => ({
  ...{ a: () => "Apple", b: async () => "Banana", c: () => "Cookie", d: () => "Donut", e: async () => "Egg", f: "Fish" },
  pic: ({ size }: { size: number }) => `Pic of size: ${size}`,
  deep: () => deepData,
  promise: async () => data(),
})

const basics: ExecutionCases = {
  about: "the executor's basic tasks",
  schema: resolving(`
    type DataType { a: String b: String c: String d: String e: String f: String pic(size: Int): String deep: Deep promise: DataType }
    type Deep { a: String b: String c: [String] deeper: [DataType] }
    schema { query: DataType mutation: DataType }`),
  root: data,
  cases: [
    ["C", "{ a }"],
    ["C", "query Example { a }"],
    ["C", "query Example { first: a } query Other { second: a }", {}, "Other"],
    ["C", "query Q { a } mutation M { c }", {}, "M"],
    ["C", "query Q($x: Boolean!) { ...F @include(if: $x) } query R { ...F } fragment F on DataType { a b }", {}, "R"],
    ["C", "{ b, a, e, c, d, f }"],
    ["C", "{ a a x: a }"],
    [
      "C",
      `query ($size: Int) { a, b, x: c, ...c, f ... on DataType { pic(size: $size) promise { a } } deep { a b c deeper { a b } } }
       fragment c on DataType { d e }`,
      { size: 100 },
    ],
    // Names in the order of graphql-js, which puts the fields of a fragment where it is spread.
    ["C", "{ ...Two ...One f } fragment One on DataType { a b } fragment Two on DataType { c ...One d }"],
    ["C", "{ ... { e ... on DataType { d } } ...One c } fragment One on DataType { ...Two b } fragment Two on DataType { a }"],
    [
      "C",
      `{ a, ...One, ...Two }
       fragment One on DataType { b promise { b deep { a } } } fragment Two on DataType { c promise { c deep { b, deeper { c } } } }`,
    ],
    ["C", "{ a ...F ...F deep { a } ... { deep { b } ...F } } fragment F on DataType { a b }"],
    ["C", "{ __typename deep { __typename t: __typename deeper { __typename } } }"],
    ["I", '{ __typename __schema { queryType { name } } __type(name: "Deep") { fields { name } } }'],
    ["I", "{ __typename_: a __proto__: b }"],
    ["C", "{ constructor: a toString: b then: c hasOwnProperty: d promise { then: a } }"],
    ["I", "{ deep_a: a deep { a } }"],
  ],
}

const errors: ExecutionCases = {
  about: "errors in fields",
  schema: resolving(`
    type Query { sync: String syncError: String syncRaw: String returned: String returnedList: [String] async: String rejected: String
      rejectedRaw: String asyncReturned: String extended: String located: String bad: Int foods: [Food] food: Food! }
    type Food { name: String price: Int! next: Food must: Food! }`),
  root: () => ({
    sync: "sync",
    syncError: failing("Error getting syncError"),
    syncRaw() {
      throw "Error getting syncRaw"
    },
    returned: () => new Error("Error getting returned"),
    returnedList: () => ["0", new Error("Error getting 1"), "2", Promise.reject(new Error("Error getting 3")), Promise.resolve("4")],
    async: async () => "async",
    rejected: async () => failing("Error getting rejected")(),
    rejectedRaw: () => Promise.reject("Error getting rejectedRaw"),
    asyncReturned: async () => new Error("Error getting asyncReturned"),
    extended: async () => Object.assign(new Error("With more"), { extensions: { code: "MORE" } }),
    bad: "no number",
    foods: () => Promise.reject(new Error("Oops")),
    food: () => ({ name: "Fish", price: async () => failing("Catch me")(), next: { price: 5, next: null }, must: () => ({ price: 1 }) }),
  }),
  cases: [
    ["C", "{ sync syncError syncRaw returned returnedList async rejected rejectedRaw asyncReturned extended bad }"],
    ["C", "{ one: syncError sync ...F } fragment F on Query { two: syncError three: rejected }"],
    ["C", "{ foods { name } }"],
    ["C", "{ food { name } }"],
    ["C", "{ sync food { name must { price } price } }"],
    ["C", "{ food { name next { price other: next { price } } } }"],
    ["C", "{ food { aliased: must { price next { must { price } } } } }"],
  ],
}

const throwing = (): object => ({
  sync: failing("sync"),
  syncNonNull: failing("syncNonNull"),
  promise: async () => failing("promise")(),
  promiseNonNull: async () => failing("promiseNonNull")(),
  ...nests(throwing),
})
const nulling = (): object => ({
  sync: null,
  syncNonNull: null,
  promise: async () => null,
  promiseNonNull: async () => null,
  ...nests(nulling),
})
const nests = (nest: () => object) => ({
  ...{ syncNest: nest, syncNonNullNest: nest, promiseNest: async () => nest(), promiseNonNullNest: async () => nest() },
})
const nonNullSchema = resolving(`
  type DataType { sync: String syncNonNull: String! promise: String promiseNonNull: String! syncNest: DataType
    syncNonNullNest: DataType! promiseNest: DataType promiseNonNullNest: DataType! withArg(cannotBeNull: String!): String }
  schema { query: DataType }`)
const chain = (leaf: string) => `{ syncNonNullNest { promiseNonNullNest { syncNonNullNest { promiseNonNullNest { ${leaf} } } } } }`
const nonNullCases: ExecutionCase[] = [
  ...["sync", "promise", "syncNonNull", "promiseNonNull"].map((name): ExecutionCase => ["C", `{ ${name} }`]),
  ...["syncNest", "promiseNest", "syncNonNullNest", "promiseNonNullNest"].flatMap((nest) =>
    ["sync", "promise", "syncNonNull", "promiseNonNull"].map((name): ExecutionCase => ["C", `{ ${nest} { ${name} } other: sync }`]),
  ),
  [
    "C",
    `{ syncNest { sync promise syncNest { sync promise } promiseNest { sync promise } }
       promiseNest { sync promise syncNest { sync promise } promiseNest { sync promise } } }`,
  ],
  [
    "C",
    `{ syncNest ${chain("syncNonNull")} promiseNest ${chain("syncNonNull")}
       a: syncNest ${chain("promiseNonNull")} b: promiseNest ${chain("promiseNonNull")} }`,
  ],
  ["C", "{ syncNest { syncNonNull promiseNonNull sync } promiseNest { promise syncNonNull promiseNonNull } }"],
]

const given = (type: GraphQLInputType, defaultValue?: unknown) => ({
  type: GraphQLString,
  args: { input: { type, defaultValue } },
  resolve: (_root: unknown, args: Record<string, unknown>) => ("input" in args ? inspect(toPlain(args["input"]), { depth: 9 }) : null),
})
/** Literal inputs of the document have no prototype in graphql-js. */
const toPlain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toPlain)
  if (!value || typeof value !== "object" || value instanceof Date) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, toPlain((value as Record<string, unknown>)[key])]))
}

/** Converts one text into another. */
const Complex = new GraphQLScalarType({
  name: "Complex",
  parseValue(value) {
    if (value !== "Serialized") throw new Error("is not Serialized")
    return "Deserialized"
  },
  parseLiteral: (node) => ("value" in node && node.value === "Serialized" ? "Deserialized" : undefined),
})
const Moment = new GraphQLScalarType({
  name: "Moment",
  parseValue: (value) => new Date(String(value)),
  parseLiteral: (node) => ("value" in node ? new Date(String(node.value)) : undefined),
})
/** A scalar without parsers: any JSON, with variables inside. */
const Anything = new GraphQLScalarType({ name: "Anything" })
const Input = new GraphQLInputObjectType({
  name: "Input",
  fields: {
    a: { type: GraphQLString },
    b: { type: new GraphQLList(GraphQLString) },
    c: { type: new GraphQLNonNull(GraphQLString) },
    d: { type: Complex },
    e: { type: GraphQLString, defaultValue: "by default" },
    any: { type: Anything },
  },
})
const Nested = new GraphQLInputObjectType({
  name: "Nested",
  fields: { na: { type: new GraphQLNonNull(Input) }, nb: { type: new GraphQLNonNull(GraphQLString), defaultValue: "nb" } },
})
const Recursive: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: "Recursive",
  fields: () => ({ and: { type: new GraphQLList(Recursive) }, is: { type: GraphQLInt } }),
})
const OneOf = new GraphQLInputObjectType({ name: "OneOf", isOneOf: true, fields: { a: { type: GraphQLString }, b: { type: GraphQLInt } } })
const Values = new GraphQLEnumType({
  name: "Values",
  values: { NULL: { value: null }, NAN: { value: Number.NaN }, FALSE: { value: false }, CUSTOM: { value: "custom value" }, PLAIN: {} },
})
const text = GraphQLString
const must = <T extends GraphQLInputType>(type: T) => new GraphQLNonNull(type as never)
const inputs = new GraphQLObjectType({
  name: "Query",
  fields: {
    enumeration: given(Values),
    mustEnumeration: given(must(Values)),
    object: given(Input),
    nested: given(Nested),
    recursive: given(Recursive),
    oneOf: given(OneOf),
    anything: given(Anything),
    moment: given(Moment),
    text: given(text),
    mustText: given(must(text)),
    withDefault: given(text, "Hello World"),
    mustWithDefault: given(must(text), "Hello World"),
    int: given(GraphQLInt),
    list: given(new GraphQLList(text)),
    lists: given(new GraphQLList(new GraphQLList(text))),
    mustList: given(must(new GraphQLList(text))),
    listMust: given(new GraphQLList(must(text))),
    mustListMust: given(must(new GraphQLList(must(text)))),
  },
})

const one = (declared: string, field: string) => `query (${declared}) { ${field}(input: $input) }`
/** The text with which graphql-jit marks a Date, closed and followed by code of a client. */
const injected = "__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d0)},__x={q:(globalThis.injected=true"
const objectValues = [
  ...[
    { a: "foo", b: ["bar"], c: "baz" },
    { a: "foo", b: "bar", c: "baz" },
    { a: null, b: null, c: "C", d: null },
    { c: "foo", d: "Serialized" },
  ],
  ...[
    { c: "foo", d: "other" },
    { a: "foo", c: null },
    "foo bar",
    { a: "foo", b: "bar" },
    { c: "baz", extra: "dog" },
    [],
    [{ c: "x" }],
    null,
  ],
]
const listValues = [null, ["A"], ["A", null, "B"], "A", [], [1], [["A"]], [0, 1, 2], { a: 1 }]
const listTypes = { list: "[String]", mustList: "[String]!", listMust: "[String!]", mustListMust: "[String!]!" }

const variables: ExecutionCases = {
  about: "inputs",
  schema: new GraphQLSchema({ query: inputs }),
  cases: [
    ["C", '{ object(input: { a: "foo", b: ["bar"], c: "baz" }) }'],
    ["C", '{ object(input: { a: "foo", b: "bar", c: "baz" }) }'],
    ["C", '{ object(input: { a: null, b: null, c: "C", d: null }) }'],
    ["C", '{ object(input: { b: ["A", null, "C"], c: "C", d: "Serialized" }) }'],
    ...objectValues.map((input): ExecutionCase => ["C", one("$input: Input", "object"), { input }]),
    ["C", one("$input: Input", "object"), {}],
    ["I", one('$input: Input = { a: "foo", b: ["bar"], c: "baz" }', "object")],
    ...[{ na: { a: "foo" } }, { na: { c: "c" } }, { na: { c: "c", d: "other" }, nb: null }, { nb: "x" }].map(
      (input): ExecutionCase => ["C", one("$input: Nested", "nested"), { input }],
    ),
    // A variable inside a literal: given, null and absent.
    ...[{ x: "1" }, { x: null }, {}].flatMap((x): ExecutionCase[] => [
      ["C", 'query ($x: String) { object(input: { a: $x, c: "c" }) }', x],
      ["C", 'query ($x: String = "y") { object(input: { a: $x, e: $x, c: "c" }) }', x],
      ["C", 'query ($x: String) { object(input: { b: ["a", $x], c: "c", e: $x }) }', x],
      ["C", "query ($x: String!) { nested(input: { na: { c: $x, b: [$x] }, nb: $x }) }", x],
      ["C", 'query ($x: String = "y") { object(input: { c: $x }) }', x],
      ["C", 'query ($x: String = "y") { list(input: [$x, "b"]) mustText(input: $x) }', x],
      ["C", "query ($x: String) { text(input: $x) withDefault(input: $x) mustWithDefault(input: $x) }", x],
      ["I", "query ($x: String) { anything(input: { is: { inside: [$x, 1] } }) }", x],
      ["I", 'query ($x: Anything) { object(input: { c: "c", any: [$x] }) }', x],
      ["C", "query ($x: Anything) { anything(input: $x) }", x],
    ]),
    ["C", "query ($x: Anything) { anything(input: $x) }", { x: { a: [{ b: null }] } }],
    ["I", '{ anything(input: "text") }'],
    ["C", '{ moment(input: "2026-01-31T09:15:00.123Z") }'],
    ["C", one("$input: Moment", "moment"), { input: "2026-01-31T09:15:00.123Z" }],
    ["I", one('$input: Moment = "2026-01-31T09:15:00.123Z"', "moment")],
    [
      "C",
      "{ null: enumeration(input: NULL) NaN: enumeration(input: NAN) false: enumeration(input: FALSE) custom: enumeration(input: CUSTOM) }",
    ],
    ["C", "{ plain: enumeration(input: PLAIN) must: mustEnumeration(input: NULL) }"],
    ...["NULL", "CUSTOM", "PLAIN", "OTHER", "toString", 5, null].map(
      (input): ExecutionCase => ["C", one("$input: Values", "enumeration"), { input }],
    ),
    ["I", one("$input: Values = NAN", "enumeration")],
    ["C", one("$input: Values = CUSTOM", "enumeration")],
    ["C", "{ text withDefault mustWithDefault }"],
    ["C", '{ text(input: "a") mustText(input: "a\\u2028\\"b") }'],
    ...[{ input: "a" }, { input: null }, {}, { input: [1, 2, 3] }, { input: 5 }].flatMap((input): ExecutionCase[] => [
      ["C", one("$input: String", "text"), input],
      ["C", one('$input: String = "default"', "text"), input],
      ["C", one("$input: String = null", "text"), input],
      ["C", one('$input: String! = "default"', "text"), input],
      ["C", one('$input: String = "default"', "mustText"), input],
      ["C", one("$input: String!", "mustText"), input],
    ]),
    ...[5, "5", 5.5, 2 ** 31, Number.NaN, true].map((input): ExecutionCase => ["C", one("$input: Int", "int"), { input }]),
    ...Object.entries(listTypes).flatMap(([field, type]) =>
      listValues.map((input): ExecutionCase => ["C", one(`$input: ${type}`, field), { input }]),
    ),
    ...["a", ["a"], [["a"], null, [null]]].map((input): ExecutionCase => ["C", one("$input: [[String]]", "lists"), { input }]),
    ["C", '{ lists(input: [["a"], "b"]) list(input: "a") }'],
    ["I", one("$input: Recursive", "recursive"), { input: { and: [{ is: 1 }, { and: { is: 2 } }] } }],
    ["C", "{ recursive(input: { and: [{ is: 1 }, { and: { is: 2 } }] }) }"],
    ...[{ a: "x" }, { a: "x", b: 1 }, { a: null }].map((input): ExecutionCase => ["I", one("$input: OneOf", "oneOf"), { input }]),
    ["I", `{ text(input: ${JSON.stringify(injected)}) }`],
    ["I", `{ object(input: { c: "c", b: [${JSON.stringify(injected)}] }) }`],
    ["C", one("$input: String", "text"), { input: injected }],
    ["C", one(`$input: String = ${JSON.stringify(injected)}`, "text")],
    [
      "C",
      "query ($__proto__: String, $constructor: String) { a: text(input: $__proto__) b: text(input: $constructor) }",
      { constructor: "x" },
    ],
  ],
}

const conditional: ExecutionCases = {
  about: "@skip and @include",
  schema: resolving(`type Query { a: String b: String t: Query ts: [Query!] } schema { query: Query }`),
  root: () => ({ a: "a", b: "b", t: () => ({ a: "ta", b: "tb", t: { a: "tta" } }), ts: () => [{ a: "0" }, { a: "1", t: { b: "1b" } }] }),
  cases: [
    ...["true", "false"].flatMap((value): ExecutionCase[] => [
      ["C", `{ a b @include(if: ${value}) }`],
      ["C", `{ a b @skip(if: ${value}) }`],
      ["C", `{ a ...F @include(if: ${value}) } fragment F on Query { b }`],
      ["C", `{ a ... on Query @skip(if: ${value}) { b } }`],
      ["C", `{ a ... @include(if: ${value}) { b } }`],
      ["C", `{ a b @include(if: true) @skip(if: ${value}) }`],
    ]),
    ...[{ x: true }, { x: false }, {}, { x: null }, { x: "no" }].flatMap((x): ExecutionCase[] => [
      ["C", "query ($x: Boolean!) { a b @include(if: $x) t @skip(if: $x) { a } }", x],
      ["C", "query ($x: Boolean = true) { a b @include(if: $x) t { a b @skip(if: $x) } }", x],
      ["C", "query ($x: Boolean!) { a t { ...F } ts { ...F @skip(if: $x) } ...F @include(if: $x) } fragment F on Query { b t { a } }", x],
      ["C", "query ($x: Boolean!) { t { a } ...F @include(if: $x) } fragment F on Query { t { b t { a } } }", x],
      ["C", "query ($x: Boolean!) { t @include(if: $x) @skip(if: true) { a } ts { a @include(if: true) b @skip(if: $x) } }", x],
      ["I", "query ($x: Boolean!) { a @include(if: $x) b a }", x],
      ["I", "query ($x: Boolean!) { ... @include(if: $x) { a @include(if: false) b @include(if: true) } }", x],
      ["I", "query ($x: Boolean!) { ...F @skip(if: $x) ...F } fragment F on Query { a b }", x],
      [
        "C",
        "query ($x: Boolean!) { a ... @include(if: $x) { ... @skip(if: false) { b } } ...F } fragment F on Query { t { a @skip(if: $x) b } }",
        x,
      ],
    ]),
  ],
}

const lists: ExecutionCases[] = ["[Int]", "[Int]!", "[Int!]", "[Int!]!"].flatMap((type) => {
  const promised = (value: unknown) => (value instanceof Error ? Promise.reject(value) : Promise.resolve(value))
  const bad = new Error("bad")
  const values: Record<string, () => unknown> = {
    values: () => [1, 2],
    nulls: () => [1, null, 2],
    nothing: () => null,
    "an error inside": () => [1, bad, 2],
    "an error": () => bad,
    "a set": () => new Set([1, 2, 1]),
    "a generator": function* () {
      yield 1
      yield 2
    },
    "no list": () => "Singular",
    empty: () => [],
  }
  const shapes: Record<string, (value: unknown) => unknown> = {
    "": (value) => value,
    "promised ": promised,
    "of promises ": (value) => (Array.isArray(value) ? value.map(promised) : value),
    "promised, of promises ": (value) => promised(Array.isArray(value) ? value.map(promised) : value),
  }
  const schema = resolving(`type Query { list: ${type} other: Int }`)
  return Object.entries(values).flatMap(([name, make]) =>
    Object.entries(shapes).map(
      ([shape, inShape]): ExecutionCases => ({
        about: `${type}: ${shape}${name}`,
        schema,
        root: () => ({ list: () => inShape(make()), other: 5 }),
        cases: [["C", "{ list other }"]],
      }),
    ),
  )
})

class Dog {
  progeny: object[] = []
  constructor(
    readonly name: string,
    readonly barks: boolean,
    readonly mother?: Dog,
  ) {}
}
class Cat {
  progeny: object[] = []
  constructor(
    readonly name: string,
    readonly meows: boolean,
    readonly mother?: Cat,
  ) {}
}
/** The same schema with types from `isTypeOf`, from `resolveType`, and from promises of both. */
const abstract = (["isTypeOf", "resolveType", "promised isTypeOf", "promised resolveType", "nothing"] as const).map(
  (by): ExecutionCases => {
    const schema = resolving(`
    interface Named { name: String } interface Life { progeny: [Life] } interface Mammal implements Life { progeny: [Life] mother: Mammal }
    type Dog implements Named & Life & Mammal { name: String barks: Boolean progeny: [Life] mother: Dog }
    type Cat implements Named & Life & Mammal { name: String meows: Boolean progeny: [Life] mother: Cat }
    union Pet = Dog | Cat
    type Query { name: String pets: [Pet] friends: [Named!] dog: Dog }`)
    const inTime = (value: unknown) => (by.startsWith("promised") ? Promise.resolve(value) : value)
    for (const [type, made] of [[schema.getType("Dog"), Dog] as const, [schema.getType("Cat"), Cat] as const])
      if (by.endsWith("isTypeOf")) Object.assign(type!, { isTypeOf: (value: unknown) => inTime(value instanceof made) })
    for (const name of ["Named", "Life", "Mammal", "Pet"])
      if (by.endsWith("resolveType"))
        Object.assign(schema.getType(name)!, {
          resolveType: (value: object) => inTime(value instanceof Dog ? "Dog" : value instanceof Cat ? "Cat" : "Query"),
        })
    const odie = new Dog("Odie", true, new Dog("Odie's mother", false))
    const garfield = new Cat("Garfield", false, new Cat("Garfield's mother", true))
    odie.mother!.progeny = [odie]
    return {
      about: `abstract types, told by ${by}`,
      schema,
      root: () => ({ name: "John", pets: [garfield, odie, { name: "Nobody" }], friends: async () => [odie, garfield], dog: garfield }),
      cases: [
        [by.endsWith("isTypeOf") ? "I" : "C", "{ name dog { name barks } }"],
        ["I", "{ __typename name pets { __typename ... on Dog { name barks } ... on Cat { name meows } } }"],
        [
          "I",
          "{ friends { __typename name ... on Dog { barks } ...Meows ... on Mammal { mother { progeny { __typename } } } } } fragment Meows on Cat { meows }",
        ],
        [
          "I",
          "{ pets { ...Fields ... on Mammal { mother { ...Progeny } } } } fragment Fields on Pet { ... on Dog { name } } fragment Progeny on Life { progeny { __typename } }",
        ],
        ["I", "{ friends { ... on Life { progeny { ... on Named { name } } } } }"],
      ],
    }
  },
)

class NumberHolder {
  theNumber = 6
  readonly heard: number[] = []
  set = ({ to }: { to: number }) => {
    this.heard.push(to)
    this.theNumber = to
    return { theNumber: to, heard: [...this.heard] }
  }
  promise = async (args: { to: number }) => {
    // Not a wait: a resolver that answers later than others.
    await new Promise((resolve) => setTimeout(resolve, 1))
    return this.set(args)
  }
  fail = failing("Cannot change the number")
  reject = async () => failing("Cannot change the number")()
  mustFail = failing("Must not fail")
  mustReject = async () => failing("Must not reject")()
}
const mutations: ExecutionCases = {
  about: "mutations",
  schema: resolving(`
    type Query { theNumber: Int } type Holder { theNumber: Int heard: [Int] }
    type Mutation { set(to: Int): Holder promise(to: Int): Holder fail: Holder reject: Holder mustFail: Holder! mustReject: Holder! }`),
  root: () => new NumberHolder(),
  cases: [
    ["C", "mutation { set(to: 1) { theNumber heard } }"],
    ["C", "mutation { promise(to: 1) { theNumber } }"],
    ["C", "mutation { mustReject { theNumber } }"],
    [
      "I",
      "mutation M { first: set(to: 1) { theNumber } second: promise(to: 2) { theNumber } third: set(to: 3) { heard } fourth: promise(to: 4) { heard } }",
    ],
    ["I", "mutation M { first: set(to: 1) { heard } fail { heard } reject { heard } second: promise(to: 2) { heard } }"],
    ["I", "mutation M { first: set(to: 1) { heard } mustFail { heard } second: promise(to: 2) { heard } }"],
    ["I", "mutation M { ...F second: set(to: 2) { heard } } fragment F on Mutation { first: promise(to: 1) { heard } }"],
  ],
}

/** graphql-js's own tests of execution, by their subjects. */
export const executionCases: ExecutionCases[] = [
  basics,
  errors,
  { about: "what must not be null, throwing", schema: nonNullSchema, root: throwing, cases: nonNullCases },
  { about: "what must not be null, and is", schema: nonNullSchema, root: nulling, cases: nonNullCases },
  variables,
  conditional,
  ...lists,
  ...abstract,
  mutations,
]
