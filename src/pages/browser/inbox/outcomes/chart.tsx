import { useEffect, useRef, useState } from "react"
import UPlot from "uplot"
import { inboxLimits } from "../kit/limits.js"
import type { OutcomeGroup } from "./operations.js"
import { dayText, numberText, shareText } from "./texts.js"

interface Props {
  /** Days or weeks in their order. */
  groups: readonly OutcomeGroup[]
  /** Learns the place of the group that is pointed at; null when none is. */
  pointed(place: number | null): void
  label: string
}

/** Draws containment as a line, the hand-off rate as a dashed line, both with marks, and the number of stretches as bars. */
export function Chart({ groups, pointed, label }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const scheme = useScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read again when the scheme changes.
  useEffect(() => {
    const { current } = box
    if (!current) return
    const drawn = new UPlot(optionsOf(current, groups, pointed), dataOf(groups), current)
    const observer = new ResizeObserver(() => drawn.setSize({ width: current.clientWidth, height: inboxLimits.chartHeight }))
    observer.observe(current)
    // A finger that touches the chart does not move over it.
    drawn.over.addEventListener("pointerdown", ({ clientX, clientY }) => {
      const { left, top } = drawn.over.getBoundingClientRect()
      drawn.setCursor({ left: clientX - left, top: clientY - top })
    })
    return () => {
      observer.disconnect()
      drawn.destroy()
    }
  }, [groups, pointed, scheme])
  return <div ref={box} className="chart" role="img" aria-label={label} />
}

/** Whether the page is dark; a change draws the chart again. */
function useScheme(): boolean {
  const [isDark, setDark] = useState(() => matchMedia(dark).matches)
  useEffect(() => {
    const query = matchMedia(dark)
    const changed = () => setDark(query.matches)
    query.addEventListener("change", changed)
    return () => query.removeEventListener("change", changed)
  }, [])
  return isDark
}
const dark = "(prefers-color-scheme: dark)"

/** Distances of the marks of an axis with whole numbers. */
const countSteps = Array.from({ length: 21 }, (_, place) => [1, 2, 5][place % 3]! * 10 ** Math.floor(place / 3))

const dataOf = (groups: readonly OutcomeGroup[]): UPlot.AlignedData => [
  groups.map((_, place) => place),
  groups.map(({ current }) => current.stretches),
  groups.map(({ current }) => current.containment),
  groups.map(({ current }) => current.handOffRate),
]

function optionsOf(box: HTMLElement, groups: readonly OutcomeGroup[], pointed: Props["pointed"]): UPlot.Options {
  const colour = coloursOf(box)
  const [quiet, line] = [colour("--quiet"), colour("--line")]
  const axis: UPlot.Axis = { stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
  const mark = (stroke: string): UPlot.Series.Points => ({ show: true, size: 7, stroke, fill: colour("--page"), width: 2 })
  const [containment, handOff] = [colour("--strong"), colour("--attention")]
  return {
    width: box.clientWidth,
    height: inboxLimits.chartHeight,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    scales: {
      x: { time: false, range: () => [-0.6, groups.length - 0.4] },
      share: { range: () => [0, 1] },
      // Room above the bars, which the lines cross less then.
      count: { range: (_plot, _least, most) => [0, Math.max(1, Math.ceil(most * 1.25))] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        incrs: [1, 2, 7, 14, 28, 56],
        space: 56,
        values: (_plot, places) => places.map((place) => nameAt(groups, place)),
      },
      { ...axis, scale: "share", incrs: [0.25], size: 56, values: (_plot, shares) => shares.map(shareText) },
      { ...axis, scale: "count", side: 1, grid: { show: false }, incrs: countSteps, values: (_plot, counts) => counts.map(numberText) },
    ],
    series: [
      {},
      { scale: "count", fill: line, stroke: line, width: 0, points: { show: false }, paths: UPlot.paths.bars!({ size: [0.6, 40] }) },
      { scale: "share", stroke: containment, width: 2, points: mark(containment) },
      { scale: "share", stroke: handOff, width: 2, dash: [6, 4], points: mark(handOff) },
    ],
    hooks: { setCursor: [({ cursor }) => pointed(cursor.idx ?? null)] },
  }
}

const nameAt = (groups: readonly OutcomeGroup[], place: number) => (groups[place]?.key ? dayText(groups[place].key) : "")

/** Reads a colour of the style sheet as the canvas needs it, which does not know `light-dark()`. */
function coloursOf(box: HTMLElement): (name: string) => string {
  const probe = document.createElement("span")
  box.append(probe)
  const colours = new Map(
    ["--quiet", "--line", "--strong", "--attention", "--page"].map((name) => {
      probe.style.color = `var(${name})`
      return [name, getComputedStyle(probe).color]
    }),
  )
  probe.remove()
  return (name) => colours.get(name)!
}
