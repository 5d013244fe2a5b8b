import { committedSources, complaints, type Source } from "../kit/house-rules.js"
import { wordsArePlain } from "../kit/plain-words.js"

const planted = (path: string, text: string): Source => ({ path, text })
const foundIn = (path: string, text: string) => complaints(wordsArePlain, [planted(path, text)]).length

describe("the words of the project are plain", () => {
  it("holds", () => expect(complaints(wordsArePlain, committedSources())).toEqual([]))

  it.each([
    ["eval/app.ts", "// Every door is guarded."],
    ["eval/app.ts", "const doors = await createApp()"],
    ["eval/graphql.ts", "export const graphqlDoor = 1"],
    ["eval/rest.ts", "router(operations, reception)"],
    ["eval/fixtures.ts", "const company = await furnish(server)"],
    ["bench/main.ts", "// The whole cast of the benchmark."],
    ["eval/main.ts", "const stage = await openStage()"],
    ["bench/main.ts", "const arena = 1"],
    ["eval/tool-call.ts", "settle(outcome) {}"],
    ["eval/retention.ts", 'const name = "settle-lost-calls"'],
    ["README.md", "It is read anew."],
    ["README.md", "Whoever asks is answered."],
    ["README.md", "The log says what came of it."],
    ["eval/server.ts", "const clockwork = makeClockwork()"],
    ["eval/http.ts", 'name = "OutsideFailure"'],
    ["eval/access.ts", "authorize(rule, viewer)"],
    ["eval/chat.ts", "viewer.change(async (within) => within.em)"],
    ["eval/chat.ts", '@Access("company", { steps: true })'],
    ["eval/server.ts", "const outside = new Client()"],
    ["eval/stream.ts", "(wish: EventWish) => wish.after"],
    ["bench/requests.ts", "const lots = asks(matter)"],
  ])("is reported in %s: %s", (path, text) => {
    expect(foundIn(path, text)).toBeGreaterThan(0)
    expect(complaints(wordsArePlain, [planted(path, text)])[0]).toContain(wordsArePlain.teaches)
  })

  it.each([
    ["eval/server.ts", "await Promise.allSettled(closing)"],
    ["eval/running.ts", "/** Tracks a promise until it is settled. */"],
    ["eval/full-text.ts", "// Text that is cast to tsvector, without a type cast."],
    ["README.md", "The image is a multi-stage build."],
    ["eval/main.ts", "// It answers within 5 s, outside of any transaction; a person wishes more, and it does not matter."],
    ["eval/errors.ts", 'throw new BadUserInput("It must be within the limits, and asks for lots")'],
    ["eval/pdf.ts", "// Without PDF.js's viewer."],
    ["eval/filename.ts", "const pattern = bare(/within|outside/)"],
    ["eval/chat.ts", "const indoors = true"],
  ])("is not reported in %s: %s", (path, text) => expect(foundIn(path, text)).toBe(0))
})
