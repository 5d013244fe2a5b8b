import { useState } from "react"
import { Field } from "../kit/forms.js"
import { t } from "../kit/words.js"

/** Reads JSON that a person wrote; the value, or the reason why it is none. */
export function readJson(text: string): { value: unknown } | { reason: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { reason: (error as SyntaxError).message }
  }
}

/** A field for JSON that says at once why it cannot be read. */
export function JsonField({ name, label, value, rows }: { name: string; label: string; value: unknown; rows: number }) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const read = readJson(text)
  const reason = "reason" in read ? read.reason : ""
  return (
    <Field label={label}>
      <textarea
        name={name}
        rows={rows}
        dir="ltr"
        spellCheck={false}
        value={text}
        aria-invalid={reason !== ""}
        onChange={({ target }) => {
          target.setCustomValidity("reason" in readJson(target.value) ? t("This is not JSON.") : "")
          setText(target.value)
        }}
      />
      <span role="status" className="refused">
        {reason}
      </span>
    </Field>
  )
}
