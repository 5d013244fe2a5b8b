/** The arithmetic of reports, as pure functions. */

/** Counts of the stretches of a period. */
export interface Counts {
  readonly aiAlone: number
  readonly aiThenPerson: number
  readonly personAlone: number
}

/** The counts of a period and of the one before. */
export interface Compared<Of extends Counts = Counts> {
  readonly current: Of
  readonly before: Of
}

/** A group of a report. */
export interface Group<Of extends Counts = Counts> extends Compared<Of> {
  readonly key: string | null
  readonly name: string | null
}

/** How a number differs from the one before, as exactly as it is shown. */
export interface Change {
  readonly difference: number
  readonly direction: "up" | "down" | "same"
}

/** A number in whole steps, rounded as the texts of numbers are: by its decimal digits, half up. */
const stepsOf = (value: number, step: number) => {
  const digits = Math.max(0, Math.round(-Math.log10(step)))
  return Math.round(Number(new Intl.NumberFormat("en", { maximumFractionDigits: digits, useGrouping: false }).format(value)) / step)
}

/** The change between two numbers as they are shown, each rounded to `step`; null when one of them does not exist. */
export function changeOf(current: number | null, before: number | null, step: number): Change | null {
  if (current === null || before === null) return null
  const difference = (stepsOf(current, step) - stepsOf(before, step)) * step
  return { difference: Math.abs(difference), direction: difference > 0 ? "up" : difference < 0 ? "down" : "same" }
}

/** Stretches that somebody answered. */
export const answeredOf = ({ aiAlone, aiThenPerson, personAlone }: Counts): number => aiAlone + aiThenPerson + personAlone

/** Stretches that people answered. */
export const byPeopleOf = ({ aiThenPerson, personAlone }: Counts): number => aiThenPerson + personAlone

/** What a group contributed to the change of containment, as a share: negative where it lowered it. */
export interface Contribution<Of extends Counts = Counts> {
  readonly group: Group<Of>
  readonly share: number
}

/** Whether both periods have an answered stretch: otherwise there is no containment to compare. */
const areComparable = ({ current, before }: Compared) => answeredOf(current) > 0 && answeredOf(before) > 0

/**
 * Contributions of groups of hand-offs: the stretches that people answered in a group, as a share of all answered stretches, before and now. The
 * shares of all groups add up to the change of containment.
 */
export function ofHandOffs<Of extends Counts>(total: Compared, groups: readonly Group<Of>[]): Contribution<Of>[] {
  if (!areComparable(total)) return []
  const [now, then] = [answeredOf(total.current), answeredOf(total.before)]
  return groups.map((group) => ({ group, share: byPeopleOf(group.before) / then - byPeopleOf(group.current) / now }))
}

const containmentOf = (counts: Counts) => (answeredOf(counts) > 0 ? counts.aiAlone / answeredOf(counts) : null)

/**
 * Contributions of groups with a containment of their own, such as assistants: how much the group's containment changed, by the mean of its two
 * parts of all answered stretches; and how much its part changed, by how far the mean of its two containments is from that of all. They add up
 * to the change of containment, and a group that is like all others contributes nothing by growing.
 */
export function ofParts<Of extends Counts>(total: Compared, groups: readonly Group<Of>[]): Contribution<Of>[] {
  if (!areComparable(total)) return []
  const [now, then] = [answeredOf(total.current), answeredOf(total.before)]
  const mean = (containmentOf(total.current)! + containmentOf(total.before)!) / 2
  return groups.map((group) => {
    const [part, partBefore] = [answeredOf(group.current) / now, answeredOf(group.before) / then]
    // One that exists in one of the periods alone: its part counts, not a change of its containment.
    const own = containmentOf(group.current) ?? containmentOf(group.before) ?? mean
    const ownBefore = containmentOf(group.before) ?? own
    return { group, share: ((part + partBefore) / 2) * (own - ownBefore) + (part - partBefore) * ((own + ownBefore) / 2 - mean) }
  })
}

/** Contributions that lowered containment, as one list: the largest first, those below `least` left out. */
export const lowered = <Each extends { share: number }>(contributions: readonly Each[], least: number, most: number): Each[] =>
  contributions
    .filter(({ share }) => share <= -least)
    .sort((one, other) => one.share - other.share)
    .slice(0, most)
