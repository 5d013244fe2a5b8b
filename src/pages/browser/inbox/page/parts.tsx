import { Component, type ComponentType, lazy, type ReactNode, Suspense } from "react"
import { t } from "../kit/words.js"

/** A view that is loaded when it is first opened. */
const part = <Props = object>(load: () => Promise<{ default: ComponentType<Props> }>) => lazy(load)

export const Assistants = part(() => import("../assistants/assistants.js"))
export const Outcomes = part(() => import("../outcomes/outcomes.js"))
export const Palette = part(() => import("../palette/palette.js"))
export const Settings = part(() => import("../settings/settings.js"))

/** Shows a part; one that is not on the server any more, after an update, is had by loading the page again. */
export class Part extends Component<{ children: ReactNode; fallback?: ReactNode }, { isMissing: boolean }> {
  override state = { isMissing: false }
  static getDerivedStateFromError = () => ({ isMissing: true })
  override render() {
    const { children, fallback = <main className="page" aria-busy="true" /> } = this.props
    if (!this.state.isMissing) return <Suspense fallback={fallback}>{children}</Suspense>
    return (
      <main className="page">
        <p role="alert">
          {t("This view could not be shown.")}{" "}
          <button type="button" onClick={() => location.reload()}>
            {t("Load the page again")}
          </button>
        </p>
      </main>
    )
  }
}
