import { useState } from "react"
import { t } from "../kit/words.js"

/** A text with a button that copies it. */
export function Copyable({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false)
  async function copy() {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <div className="line">
      <pre dir="ltr">
        <code>{text}</code>
      </pre>
      {/* Browsers have a clipboard on https and localhost alone. */}
      {navigator.clipboard && (
        <button type="button" onClick={() => void copy()}>
          {isCopied ? t("Copied") : t("Copy")}
        </button>
      )}
    </div>
  )
}

/** A value that is shown once. */
export const Secret = ({ label, value }: { label: string; value: string }) => (
  <div role="status" className="secret">
    <p>
      {label} {t("Copy it now: it is not shown again.")}
    </p>
    <Copyable text={value} />
  </div>
)
