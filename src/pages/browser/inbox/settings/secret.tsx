import { useState } from "react"

/** A value that is shown once, with a button that copies it. */
export function Secret({ label, value }: { label: string; value: string }) {
  const [isCopied, setCopied] = useState(false)
  async function copy() {
    await navigator.clipboard.writeText(value)
    setCopied(true)
  }
  return (
    <div role="status" className="secret">
      <p>{label} Copy it now: it is not shown again.</p>
      <p className="line">
        <code>{value}</code>
        {/* Browsers have a clipboard on https and localhost alone. */}
        {navigator.clipboard && (
          <button type="button" onClick={() => void copy()}>
            {isCopied ? "Copied" : "Copy"}
          </button>
        )}
      </p>
    </div>
  )
}
