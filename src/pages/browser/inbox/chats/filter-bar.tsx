import { useAddress, useChoices } from "../kit/company.js"
import type { Chat } from "../kit/operations.js"
import { wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"

/** All channels of the schema: one that is missing here does not compile. */
const channels = Object.keys({
  INSTAGRAM: true,
  TELEGRAM: true,
  TELEGRAM_BOT: true,
  MESSENGER: true,
  WHATSAPP: true,
  WHATSAPP_BUSINESS: true,
  VIBER_ECHAT: true,
  WHATSAPP_ECHAT: true,
  CUSTOM_MESSENGER: true,
  WIDGET: true,
  PROM: true,
  ROZETKA: true,
  OLX: true,
  DIRECTHUB: true,
  SENDPULSE: true,
  SITNIKS: true,
  GMAIL: true,
  RESEND: true,
  PLAYGROUND: true,
} satisfies Record<Chat["messenger"], true>)

/** The filters of the list; they are in the address, so that a filtered list can be shared. */
export function FilterBar() {
  const { company, chatFolders, chatTags } = useChoices()
  const { query, path, go } = useAddress()
  const choice = (name: string, label: string, options: readonly (readonly [value: string, text: string])[]) => (
    <select aria-label={label} value={query.get(name) ?? ""} onChange={({ target }) => go(path, { [name]: target.value })}>
      <option value="">{t("{name}: all", { name: label })}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
  const check = (name: string, label: string) => (
    <label className="check">
      <input
        type="checkbox"
        checked={query.get(name) === "true"}
        onChange={({ target }) => go(path, { [name]: target.checked ? "true" : "" })}
      />{" "}
      {label}
    </label>
  )
  const members = (company?.members ?? []).map(({ userId, name }) => [userId, name] as const)
  return (
    <div className="filters">
      {choice("manager", t("Manager"), [["me", t("Mine")], ["none", t("Unassigned")], ...members])}
      {choice("ai", t("AI"), [
        ["on", t("AI on")],
        ["off", t("AI off")],
      ])}
      {choice(
        "channel",
        t("Channel"),
        channels.map((value) => [value, wordOf(value)]),
      )}
      {chatFolders.length > 0 &&
        choice(
          "folder",
          t("Folder"),
          chatFolders.map(({ id, name }) => [id, name]),
        )}
      {chatTags.length > 0 &&
        choice(
          "tag",
          t("Label"),
          chatTags.map(({ id, name }) => [id, name]),
        )}
      {check("unread", t("Unread"))}
      {check("attention", t("Needs a person"))}
    </div>
  )
}
