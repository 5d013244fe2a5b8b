import { bothProtocols } from "./both-protocols.js"
import { companyFixture, createCompany } from "./company-fixture.js"
import type { World } from "./world.js"

/** A JSON Schema. */
export type Schema = Record<string, unknown>

/**
 * Creates and tests tools with given params, over both protocols, whose calls go to `url`.
 * @example const w = world(); const { create, test } = schemaTools(w, () => endpoint.url)
 */
export function schemaTools(w: World, url: () => string) {
  const { acme } = w
  const rest = bothProtocols(w)
  const path = "/api/assistant-tools-new"
  let count = 0
  const given = (params: unknown, company = acme) => ({
    assistantId: company.assistant.id,
    name: `schema${++count}`,
    description: "Looks an order up.",
    apiCallUrl: url(),
    params,
  })
  const create = (schema: Schema, company = acme) => rest.as(company.token).post(path, given({ type: "object", ...schema }, company))
  return {
    path,
    given,
    create,
    test: (id: string, params: unknown, company = acme) => rest.as(company.token).post(`${path}/${id}/test`, { params }),
    /** A company with a budget of its own. */
    newCompany: async () => Object.assign({}, acme, companyFixture(w, await createCompany(w.services, `Company ${++count}`))),
    /** A tool with a schema that was stored before schemas were checked like this. */
    async stored(schema: Schema, company: typeof acme): Promise<string> {
      const { id } = (await create({}, company).expect(201)).body
      await w.sql("update assistant_tool set params = $1 where id = $2", [JSON.stringify({ type: "object", ...schema }), id])
      return id
    },
  }
}

/** So many properties with a schema. */
export const properties = (number: number, schema: unknown = {}) =>
  Object.fromEntries(Array.from({ length: number }, (_, at) => [`p${at}`, schema]))
