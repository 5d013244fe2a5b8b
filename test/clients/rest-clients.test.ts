import { readFileSync } from "node:fs"
import { type ClientTour, clientTour } from "../kit/client-tours.js"
import { world } from "../kit/world.js"

const w = world()

const page = "docs/api/clients.md"
const folder = "docs/examples/clients"
const programs: [section: string, folder: string, needs: string[]][] = [
  ["TypeScript", "typescript", ["npm --version"]],
  ["Python", "python", ["python3 -c 'import venv, ensurepip, sys; assert sys.version_info >= (3, 11)'"]],
  ["Go", "go", ["go version"]],
  ["Java", "java", ["mvn --version", "javac --version"]],
]

// Outside of tests, since only then is it known which of them are skipped. One after the other: each uses all cores.
const tours: ClientTour[] = []
for (const [section, name, needs] of programs) tours.push(await clientTour({ page, section, folder: `${folder}/${name}`, needs }))

/** What the page says that each program prints. */
const printed = /print the same:\n\n```\n(.*?)\n```/s.exec(readFileSync(page, "utf8"))![1]!.split("\n")

describe("a client that is generated from the OpenAPI document compiles, and does the tour", () => {
  for (const [index, [section]] of programs.entries())
    tours[index]!.it(`in ${section}`, async () => {
      expect(await tours[index]!.run({ PLATFORM_URL: w.url, PLATFORM_TOKEN: w.acme.token })).toEqual(printed)
    })
})
