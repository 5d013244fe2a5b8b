import { ArrayType } from "@mikro-orm/core"

/** A list of texts in a column. The mapper's own type writes the text "null" as SQL's null, and some control characters as letters. */
export class TextList extends ArrayType<string> {
  override convertToDatabaseValue(texts: string[] | null): string | null {
    return texts && `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`
  }
}
