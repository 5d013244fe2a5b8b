import fc from "fast-check"
import {
  addDays,
  addressOf,
  between,
  choiceOf,
  dayOf,
  daysBetween,
  isDay,
  isZone,
  periodBefore,
  periodOf,
  presets,
  startOfDay,
  usualOf,
} from "../../src/pages/browser/inbox/outcomes/period.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, sql, gql } = w

/** With midnights that do not exist, and that come twice; a day that does not exist (Apia, 2011); half hours, and quarters. */
const zones = [
  ...["UTC", "Europe/Berlin", "Europe/Kyiv", "America/New_York", "America/Havana", "America/Sao_Paulo", "America/Santiago", "Asia/Beirut"],
  ...["Asia/Amman", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kiritimati"],
]
const days = [2011, 2017, 2021].flatMap((year) => Array.from({ length: 365 }, (_, place) => addDays(`${year}-01-01`, place)))

describe("the begin of a day", () => {
  it.each(zones)("is where PostgreSQL has it, in %s", async (zone) => {
    const stored = await sql(
      "select extract(epoch from each::timestamp at time zone $2)::float8 * 1000 as at from unnest($1::text[]) each",
      [days, zone],
    )
    expect(days.map((day) => startOfDay(zone, day).getTime())).toEqual(stored.map(({ at }) => at))
  })
})

describe("a period", () => {
  const berlin = "Europe/Berlin"
  // A Thursday; at this time it is Friday in Asia.
  const now = new Date("2026-03-26T22:30:00Z")
  const choice = (preset: (typeof presets)[number], zone = berlin) => ({ preset, first: "", last: "", zone })
  const daysOf = (preset: (typeof presets)[number], zone?: string) => {
    const { first, last } = periodOf(choice(preset, zone), now)
    return [first, last]
  }

  it("ends with today by the clock of its zone", () => {
    expect(daysOf("7-days")).toEqual(["2026-03-20", "2026-03-26"])
    expect(daysOf("7-days", "Asia/Kolkata")).toEqual(["2026-03-21", "2026-03-27"])
    expect(daysOf("30-days")).toEqual(["2026-02-25", "2026-03-26"])
    expect(daysOf("90-days")).toEqual(["2025-12-27", "2026-03-26"])
    expect(daysOf("this-week")).toEqual(["2026-03-23", "2026-03-29"])
    expect(daysOf("last-week")).toEqual(["2026-03-16", "2026-03-22"])
  })

  it("has its own hours where the clocks change", () => {
    const hours = ({ from, to }: { from: Date; to: Date }) => (to.getTime() - from.getTime()) / 3_600_000
    // The clocks of Berlin go forward on 29 March 2026.
    expect(hours(periodOf(choice("this-week"), now))).toBe(7 * 24 - 1)
    expect(hours(periodOf(choice("this-week", "UTC"), now))).toBe(7 * 24)
    expect(hours(between(berlin, "2026-10-25", "2026-10-25"))).toBe(25)
  })

  it("follows the one before, which is the one that the server compares with", async () => {
    const query = `query ($from: DateTime, $to: DateTime, $zone: String) { outcomes(from: $from, to: $to, timeZone: $zone) { before } }`
    for (const [zone, first, last] of [
      [berlin, "2026-03-23", "2026-03-29"],
      [berlin, "2026-03-30", "2026-04-05"],
      ["America/New_York", "2026-11-01", "2026-11-01"],
      ["Asia/Kolkata", "2026-02-01", "2026-02-28"],
    ] as const) {
      const period = between(zone, first, last)
      const before = periodBefore(period)
      expect(before.to).toEqual(period.from)
      expect(daysBetween(before.first, before.last)).toBe(daysBetween(first, last))
      const { data } = await gql(acme.token, query, { from: period.from, to: period.to, zone })
      expect(new Date(data.outcomes.before)).toEqual(before.from)
    }
  })

  it("contains each of its times, and no other", () => {
    const day = fc.integer({ min: 0, max: 9_000 }).map((place) => addDays("2001-01-01", place))
    fc.assert(
      fc.property(fc.constantFrom(...zones), day, fc.nat(86_399_999), (zone, first, ms) => {
        const period = between(zone, first, addDays(first, 6))
        const at = new Date(period.from.getTime() + ms * 7)
        const isIn = at >= period.from && at < period.to
        const shown = dayOf(zone, at)
        if (isIn) expect(shown >= first && shown <= period.last).toBe(true)
        else expect(shown > period.last).toBe(true)
      }),
    )
  })
})

describe("the address of a period", () => {
  const read = (address: Record<string, string>) => choiceOf(new URLSearchParams(address), "Europe/Kyiv", usualOf("/outcomes"))

  it("names what was chosen", () => {
    for (const preset of presets) {
      const choice = { preset, first: "", last: "", zone: "America/New_York" }
      expect(read(addressOf(choice))).toEqual(choice)
    }
    const own = { preset: null, first: "2026-02-03", last: "2026-02-28", zone: "UTC" }
    expect(read(addressOf(own))).toEqual(own)
    expect(periodOf({ ...own, first: own.last, last: own.first }, new Date())).toMatchObject({ first: "2026-02-03", last: "2026-02-28" })
  })

  it("that is wrong is the last week in the browser's zone", () => {
    const usual = { preset: "last-week", first: "", last: "", zone: "Europe/Kyiv" }
    for (const address of [
      {},
      { period: "always", zone: "Mars/Olympus" },
      { from: "2026-02-30", to: "2026-03-01", zone: "+02:00" },
      { from: "2026-02-01", zone: "" },
      { from: "1999-01-01", to: "1999-02-01" },
    ])
      expect(read(address as Record<string, string>)).toEqual(usual)
    expect(["/outcomes/chats", "/outcomes/questions", "/outcomes/hits"].map(usualOf)).toEqual(["last-week", "30-days", "30-days"])
    expect(["2026-02-29", "2026-2-1", "2026-13-01", "x"].map(isDay)).toEqual([false, false, false, false])
    expect(["Europe/Kyiv", "utc", "", "5"].map(isZone)).toEqual([true, true, false, false])
  })
})
