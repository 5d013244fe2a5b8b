import type { CodegenConfig } from "@graphql-codegen/cli"

const config: CodegenConfig = {
  schema: "schema.graphql",
  documents: "operations.graphql",
  // Node.js imports files by their whole name.
  importExtension: ".ts",
  generates: {
    "generated/": {
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config: {
        // Operations are sent as text, so that the program does not need the package graphql.
        documentMode: "string",
        useTypeImports: true,
        // A scalar that is missing here is an error, not `any`.
        strictScalars: true,
        scalars: {
          UUID: "string",
          DateTime: "string",
          JSON: "unknown",
          HexColor: "string",
          PhoneNumber: "string",
          URL: "string",
          Upload: "Blob",
        },
      },
    },
  },
}

export default config
