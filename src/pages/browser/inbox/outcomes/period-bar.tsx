import { type FormEvent, useId, useState } from "react"
import { textsOf } from "../kit/forms.js"
import { type Text, t } from "../kit/words.js"
import { dayOf, type Preset, presets } from "./period.js"
import { usePeriod } from "./place.js"
import { daysText } from "./texts.js"

const names = {
  "7-days": "Last 7 days",
  "this-week": "This week",
  "last-week": "Last week",
  "30-days": "Last 30 days",
  "90-days": "Last 90 days",
} as const satisfies Record<Preset, Text>

const zones = () => (typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [])

/** The choice of the period and of its time zone; both are in the address, so that a report can be shared. */
export function PeriodBar() {
  const { choice, period, choose } = usePeriod()
  const [isOwn, setOwn] = useState(false)
  const form = useId()
  const { first, last, zone } = period
  const isChoosing = isOwn || !choice.preset
  function apply(event: FormEvent<HTMLFormElement>) {
    const { from, to } = textsOf(event)
    const [begin = first, end = last] = [from!, to!].sort()
    choose({ preset: null, first: begin, last: end })
  }
  function chosen(value: string) {
    setOwn(value === "own")
    if (value !== "own") choose({ preset: value as Preset })
  }
  return (
    <div className="period">
      <select aria-label={t("Period")} value={isChoosing ? "own" : choice.preset!} onChange={({ target }) => chosen(target.value)}>
        {presets.map((preset) => (
          <option key={preset} value={preset}>
            {t(names[preset])}
          </option>
        ))}
        <option value="own">{t("Own dates")}</option>
      </select>
      {isChoosing && (
        <form className="line" id={form} key={`${first} ${last}`} onSubmit={apply}>
          <input type="date" name="from" aria-label={t("First day")} defaultValue={first} required />
          <input type="date" name="to" aria-label={t("Last day")} defaultValue={last} required />
          <button type="submit">{t("Show")}</button>
        </form>
      )}
      <span>{daysText(first, last)}</span>
      {last > dayOf(zone, new Date()) && <span className="hint">{t("not over yet; the period before is whole")}</span>}
      <select aria-label={t("Time zone")} className="zone" value={zone} onChange={({ target }) => choose({ zone: target.value })}>
        {[...new Set([zone, "UTC", ...zones()])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}
