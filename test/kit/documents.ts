import { posix } from "node:path"
import { crc32, deflateRawSync } from "node:zlib"

/** A ZIP archive, complete with its directory. */
export function archive(entries: Record<string, string | Buffer>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content as string)
    const packed = deflateRawSync(bytes)
    const header = Buffer.alloc(26)
    header.writeUInt16LE(20, 0)
    header.writeUInt16LE(8, 4)
    header.writeUInt32LE(crc32(bytes), 10)
    header.writeUInt32LE(packed.length, 14)
    header.writeUInt32LE(bytes.length, 18)
    header.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    parts.push(Buffer.from("PK\x03\x04"), header, Buffer.from(name), packed)
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), header, place, Buffer.from(name))
    offset += 30 + name.length + packed.length
  }
  const places = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(Object.keys(entries).length, 4)
  end.writeUInt16LE(Object.keys(entries).length, 6)
  end.writeUInt32LE(places.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, places, Buffer.from("PK\x05\x06"), end])
}

/** An office file of these parts, the first of which is the main one. References go from it to `parts` by the given ids. */
export function officeFile(parts: Record<string, string>, references: Record<string, [from: string, type: string, target: string]> = {}) {
  const [main = ""] = Object.keys(parts)
  const relationships: Record<string, string> = {}
  for (const [id, [from, type, target]] of Object.entries(references)) {
    const path = posix.join(posix.dirname(from), "_rels", `${posix.basename(from)}.rels`)
    relationships[path] ??= "<Relationships>"
    relationships[path] += `<Relationship Id="${id}" Type="${office}/officeDocument/2006/relationships/${type}" Target="${target}"/>`
  }
  for (const path of Object.keys(relationships)) relationships[path] += "</Relationships>"
  return archive({ "_rels/.rels": relations([["officeDocument", main]]), ...relationships, ...parts })
}

const xml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
const declared = (body: string) => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${body}`
const office = "http://schemas.openxmlformats.org"
const namespaces = (main: string) =>
  `xmlns="${office}/${main}" xmlns:w="${office}/${main}" xmlns:a="${office}/drawingml/2006/main" xmlns:p="${office}/${main}" xmlns:r="${office}/officeDocument/2006/relationships"`

const contentTypes = (parts: Record<string, string>) =>
  declared(
    `<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${Object.entries(
      parts,
    )
      .map(([name, type]) => `<Override PartName="/${name}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`)
      .join("")}</Types>`,
  )

const relations = (targets: [type: string, target: string][]) =>
  declared(
    `<Relationships xmlns="${office}/package/2006/relationships">${targets
      .map(
        ([type, target], index) =>
          `<Relationship Id="rId${index + 1}" Type="${office}/officeDocument/2006/relationships/${type}" Target="${target}"/>`,
      )
      .join("")}</Relationships>`,
  )

/** A Word document; a paragraph that begins with "# " is a heading. */
export function wordDocument(paragraphs: string[]): Buffer {
  const body = paragraphs.map((text) => {
    const style = text.startsWith("# ") ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : ""
    return `<w:p>${style}<w:r><w:t xml:space="preserve">${xml(text.replace(/^# /, ""))}</w:t></w:r></w:p>`
  })
  return archive({
    "[Content_Types].xml": contentTypes({ "word/document.xml": "wordprocessingml.document.main" }),
    "_rels/.rels": relations([["officeDocument", "word/document.xml"]]),
    "word/document.xml": declared(`<w:document ${namespaces("wordprocessingml/2006/main")}><w:body>${body.join("")}</w:body></w:document>`),
  })
}

/** An Excel workbook with its sheets by name. */
export function workbook(sheets: Record<string, (string | number)[][]>): Buffer {
  const names = Object.keys(sheets)
  const cell = (value: string | number) =>
    typeof value === "number" ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${xml(value)}</t></is></c>`
  const rows = (sheet: (string | number)[][]) => sheet.map((row) => `<row>${row.map(cell).join("")}</row>`).join("")
  const main = namespaces("spreadsheetml/2006/main")
  return archive({
    "[Content_Types].xml": contentTypes({
      "xl/workbook.xml": "spreadsheetml.sheet.main",
      ...Object.fromEntries(names.map((_, index) => [`xl/worksheets/sheet${index + 1}.xml`, "spreadsheetml.worksheet"])),
    }),
    "_rels/.rels": relations([["officeDocument", "xl/workbook.xml"]]),
    "xl/workbook.xml": declared(
      `<workbook ${main}><sheets>${names.map((name, index) => `<sheet name="${xml(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join("")}</sheets></workbook>`,
    ),
    "xl/_rels/workbook.xml.rels": relations(names.map((_, index) => ["worksheet", `worksheets/sheet${index + 1}.xml`])),
    ...Object.fromEntries(
      names.map((name, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        declared(`<worksheet ${main}><sheetData>${rows(sheets[name]!)}</sheetData></worksheet>`),
      ]),
    ),
  })
}

/** A PowerPoint presentation: the lines of its slides. */
export function presentation(slides: string[][]): Buffer {
  const main = namespaces("presentationml/2006/main")
  const shape = (line: string) => `<p:sp><p:txBody><a:p><a:r><a:t>${xml(line)}</a:t></a:r></a:p></p:txBody></p:sp>`
  return archive({
    "[Content_Types].xml": contentTypes({
      "ppt/presentation.xml": "presentationml.presentation.main",
      ...Object.fromEntries(slides.map((_, index) => [`ppt/slides/slide${index + 1}.xml`, "presentationml.slide"])),
    }),
    "_rels/.rels": relations([["officeDocument", "ppt/presentation.xml"]]),
    "ppt/presentation.xml": declared(
      `<p:presentation ${main}><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join("")}</p:sldIdLst></p:presentation>`,
    ),
    "ppt/_rels/presentation.xml.rels": relations(slides.map((_, index) => ["slide", `slides/slide${index + 1}.xml`])),
    ...Object.fromEntries(
      slides.map((lines, index) => [
        `ppt/slides/slide${index + 1}.xml`,
        declared(`<p:sld ${main}><p:cSld><p:spTree>${lines.map(shape).join("")}</p:spTree></p:cSld></p:sld>`),
      ]),
    ),
  })
}

/** A PDF: the lines of its pages, in letters of Latin 1, or the content stream of a page. */
export function pdf(pages: (string[] | string)[], more: { objects?: string[]; resources?: string; trailer?: string } = {}): Buffer {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(" ")
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ...pages.flatMap((lines, index) => {
      const shown = (line: string) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj T*`
      const content = typeof lines === "string" ? lines : `BT /F1 12 Tf 72 720 Td 14 TL ${lines.map(shown).join(" ")} ET`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> ${more.resources ?? ""} >> >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ]
    }),
    ...(more.objects ?? []),
  ]
  let file = "%PDF-1.4\n%\u00e2\u00e3\n"
  const places = objects.map((object, index) => {
    const place = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(place).padStart(10, "0")} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${more.trailer ?? ""} >>\nstartxref\n${file.length}\n%%EOF\n`
  return Buffer.from(file + table + trailer, "latin1")
}

/** A PDF with a password. */
export const encryptedPdf = () =>
  pdf([["A secret."]], {
    objects: [`<< /Filter /Standard /V 1 /R 2 /O <${"ab".repeat(32)}> /U <${"cd".repeat(32)}> /P -4 >>`],
    trailer: `/Encrypt 6 0 R /ID [<${"01".repeat(16)}> <${"01".repeat(16)}>]`,
  })

/** A small PDF whose page shows a form that shows another one ten times, and so on: it takes minutes to read. */
export const nestedPdf = (levels = 12) => {
  const form = (level: number) => {
    const [content, next] = level < levels ? ["/X Do ".repeat(10), `/XObject << /X ${6 + level} 0 R >>`] : ["BT /F1 9 Tf (x) Tj ET", ""]
    const resources = `<< /Font << /F1 3 0 R >> ${next} >>`
    const dictionary = `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources ${resources} /Length ${content.length} >>`
    return `${dictionary}\nstream\n${content}\nendstream`
  }
  return pdf(["/X Do"], { objects: Array.from({ length: levels }, (_, index) => form(index + 1)), resources: "/XObject << /X 6 0 R >>" })
}

/** A file that begins like a PDF and is not one. */
export const brokenPdf = () =>
  Buffer.concat([Buffer.from("%PDF-1.7\n%\xe2\xe3\n1 0 obj\n", "latin1"), Buffer.alloc(2_000, "garbage \xff", "latin1")])

/** A Word document of some kilobytes that unpacks into this many megabytes. */
export const zipBomb = (megabytes: number) =>
  archive({
    "[Content_Types].xml": contentTypes({ "word/document.xml": "wordprocessingml.document.main" }),
    "_rels/.rels": relations([["officeDocument", "word/document.xml"]]),
    "word/document.xml": Buffer.alloc(megabytes * 1024 * 1024, "<w:p/>"),
  })
