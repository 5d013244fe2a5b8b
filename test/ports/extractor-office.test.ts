import { DocumentProcesses } from "../../src/ports/extractor/processes.js"
import { archive, officeFile, pdf, wordDocument, workbook } from "../kit/documents.js"

const extractor = new DocumentProcesses()
const company = "a company"
afterAll(() => extractor.close())
const types = {
  word: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  excel: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  powerpoint: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  pdf: "application/pdf",
  csv: "text/csv",
}
const read = (kind: keyof typeof types, bytes: Uint8Array) =>
  extractor.text(company, { bytes, type: types[kind] }, new AbortController().signal)
const failure = (kind: keyof typeof types, bytes: Uint8Array) => read(kind, bytes).catch((error) => error.message)

describe("a Word file", () => {
  const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
  const paragraph = (text: string, properties = "") => `<w:p><w:pPr>${properties}</w:pPr>${run(text)}</w:p>`
  const document = (...body: string[]) => `<w:document><w:body>${body.join("")}</w:body></w:document>`
  const style = (id: string, name: string, more = "") =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`
  const parts = {
    styles: `<w:styles>
      ${style("Titel", "Title")}${style("berschrift2", "heading 2")}
      ${style("Mine", "My own", '<w:basedOn w:val="berschrift2"/>')}${style("Loop", "Loop", '<w:basedOn w:val="Loop"/>')}
      ${style("Outline", "Outlined", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')}
      ${style("Items", "List Bullet", '<w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr>')}</w:styles>`,
    footnotes: `<w:footnotes><w:footnote w:id="7">${paragraph("The note.")}</w:footnote></w:footnotes>`,
  }
  const word = (...body: string[]) =>
    read(
      "word",
      officeFile(
        { "word/main.xml": document(...body), "word/styles.xml": parts.styles, "notes/some.xml": parts.footnotes },
        { a: ["word/main.xml", "styles", "styles.xml"], b: ["word/main.xml", "footnotes", "/notes/some.xml"] },
      ),
    )

  it("has headings by its styles, in any language", async () => {
    const styled = (text: string, id: string) => paragraph(text, `<w:pStyle w:val="${id}"/>`)
    expect(
      await word(
        styled("One", "Titel"),
        styled("Two", "berschrift2"),
        styled("Three", "Mine"),
        styled("Four", "Outline"),
        styled("Five", "Loop"),
      ),
    ).toBe("# One\n\n## Two\n\n## Three\n\n### Four\n\nFive")
  })

  it("has lists with their depth, and none where a list was removed", async () => {
    const list = (id: number, depth: number) => `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${id}"/></w:numPr>`
    const items = '<w:pStyle w:val="Items"/>'
    expect(
      await word(paragraph("One", items), paragraph("Two", list(4, 1)), paragraph("Three", items), paragraph("Text", items + list(0, 0))),
    ).toBe("- One\n  - Two\n- Three\n\nText")
  })

  it("has tables with column names in each row", async () => {
    const cell = (text: string, properties = "") => `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`
    const row = (...cells: string[]) => `<w:tr>${cells.join("")}</w:tr>`
    const table = `<w:tbl>${row(cell("Country"), cell("Fee"), cell("Days"))}${row(cell("France", '<w:gridSpan w:val="2"/>'), cell("5"))}</w:tbl>`
    expect(await word(table)).toBe("- Country: France; Days: 5")
  })

  it("has notes after the paragraph, insertions, and neither deletions nor formatting", async () => {
    const text = `<w:p>${run("Kept")}<w:ins>${run(" and added")}</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>
      <w:r><w:footnoteReference w:id="7"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:hyperlink>${run(".")}</w:hyperlink></w:p>`
    expect(await word(text, paragraph("Next"))).toBe("Kept and added.\n\nThe note.\n\nNext")
  })

  it("has the text of boxes once, and that of controls", async () => {
    const box = `<w:txbxContent>${paragraph("In a box")}</w:txbxContent>`
    const drawn = `<w:p>${run("Beside")}<mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent></w:p>`
    const control = `<w:sdt><w:sdtPr/><w:sdtContent>${paragraph("In a control")}</w:sdtContent></w:sdt>`
    expect(await word(drawn, control, "<w:p><w:r><w:t>A</w:t><w:tab/><w:t>B</w:t><w:br/><w:t>C</w:t></w:r></w:p>")).toBe(
      "Beside\n\nIn a box\n\nIn a control\n\nA\tB\nC",
    )
  })

  it.each([
    ["is encrypted", Buffer.from("d0cf11e0a1b11ae1".padEnd(2048, "0"), "hex"), "is protected by a password"],
    [
      "ends too early",
      officeFile({ "word/main.xml": document(paragraph("Cut")).slice(0, -30) }),
      "is no Word file that can be read: it is damaged or incomplete",
    ],
    ["has no main part", archive({ "a.xml": "<a/>" }), "is no Word file that can be read: it is damaged or incomplete"],
    ["is nested without end", officeFile({ "word/main.xml": "<w:p>".repeat(10_000) }), "is nested too deeply to be read"],
    ["was cut", wordDocument(["Cut"]).subarray(0, 400), "is no Word file that can be read: it is damaged or incomplete"],
  ])("that %s says so", async (_what, bytes, message) => expect(await failure("word", bytes)).toBe(message))

  it("whose entries have a wrong size is not unpacked beyond it", async () => {
    const bytes = wordDocument(["word ".repeat(100_000)])
    const entry = bytes.lastIndexOf("word/document.xml") - 46
    bytes.writeUInt32LE(1_000, entry + 24)
    expect(await failure("word", bytes)).toBe("is no Word file that can be read: it is damaged or incomplete")
  })
})

describe("an Excel file", () => {
  const excel = (rows: string, { properties = "" } = {}) =>
    read(
      "excel",
      officeFile(
        {
          "xl/workbook.xml": `<workbook><workbookPr ${properties}/><sheets><sheet name="Fees" r:id="s1"/></sheets></workbook>`,
          "xl/one.xml": `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
          "xl/strings.xml": "<sst><si><t>Country</t></si><si><r><t>Fr</t></r><r><t>ance</t></r><rPh><t>x</t></rPh></si></sst>",
          "xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy hh:mm"/><numFmt numFmtId="165" formatCode='[Red]0.0"days"'/>
            </numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="9"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
        },
        {
          s1: ["xl/workbook.xml", "worksheet", "one.xml"],
          s2: ["xl/workbook.xml", "sharedStrings", "strings.xml"],
          s3: ["xl/workbook.xml", "styles", "styles.xml"],
        },
      ),
    )

  it("has values under their columns, also where cells are missing", async () => {
    const rows = `<row><c r="A1" t="s"><v>0</v></c><c r="B1" t="str"><v>Fee</v></c><c r="D1" t="inlineStr"><is><t>Note</t></is></c></row>
      <row><c r="A2" t="s"><v>1</v></c><c r="D2" t="b"><v>1</v></c></row><row><c r="B3"><v>0.10000000000000001</v></c></row>`
    expect(await excel(rows)).toBe("# Fees\n\n- Country | Fee | Note\n- France | TRUE\n- 0.1")
  })

  it("has dates, times and percentages as displayed", async () => {
    const cells = [
      ["1", 45356], // a date by the number of its format
      ["2", 45356.5], // by what its format says
      ["3", 45356.5], // a number with a word and a color that look like a date's
      ["4", 0.07], // a share
      ["5", 0.75], // a time
    ]
    const row = `<row>${cells.map(([style, value]) => `<c s="${style}"><v>${value}</v></c>`).join("")}</row>`
    expect(await excel(row)).toBe("# Fees\n\n- 2024-03-05 | 2024-03-05 12:00 | 45356.5 | 7% | 18:00")
    expect(await excel('<row><c s="1"><v>43894</v></c></row>', { properties: 'date1904="1"' })).toBe("# Fees\n\n- 2024-03-05")
  })

  it("with few cells far apart is not filled up", async () => {
    const rows = Array.from({ length: 100 }, () => '<row><c r="XFD1"><v>1</v></c></row>').join("")
    await expect(excel(rows)).rejects.toThrow("is too large to be read: split it")
    expect(await read("excel", workbook({ Empty: [], Full: [["One"]] }))).toBe("# Full\n\n- One")
  })
})

describe("a PowerPoint file", () => {
  const shape = (kind: string, ...paragraphs: string[]) =>
    `<p:sp><p:nvSpPr><p:nvPr>${kind === "" ? "" : `<p:ph type="${kind}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs.join("")}</p:txBody></p:sp>`
  const paragraph = (text: string, properties = "") => `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`
  const slide = (...shapes: string[]) => `<p:sld><p:cSld><p:spTree>${shapes.join("")}</p:spTree></p:cSld></p:sld>`

  it("has its slides in order, with titles, lists, tables and speaker notes", async () => {
    const table = `<p:graphicFrame><a:tbl>${["Country|Fee", "France|5"]
      .map(
        (row) =>
          `<a:tr>${row
            .split("|")
            .map((cell) => `<a:tc><a:txBody>${paragraph(cell)}</a:txBody></a:tc>`)
            .join("")}</a:tr>`,
      )
      .join("")}</a:tbl></p:graphicFrame>`
    const bytes = officeFile(
      {
        "ppt/p.xml": '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="s2"/><p:sldId id="257" r:id="s1"/></p:sldIdLst></p:presentation>',
        "ppt/slides/1.xml": slide(`<p:grpSp>${shape("", paragraph("Last"))}</p:grpSp>`, table),
        "ppt/slides/2.xml": slide(
          shape("title", paragraph("First")),
          shape("body", paragraph("One", "<a:pPr><a:buChar/></a:pPr>"), paragraph("Two", '<a:pPr lvl="1"/>'), paragraph("Text")),
          shape("sldNum", paragraph("2")),
        ),
        "ppt/notes.xml": slide(shape("body", paragraph("To be said.")), shape("sldNum", paragraph("2"))),
        "ppt/data.xml": `<dgm:dataModel><dgm:pt><dgm:t>${paragraph("In a diagram")}</dgm:t></dgm:pt></dgm:dataModel>`,
      },
      {
        s1: ["ppt/p.xml", "slide", "slides/1.xml"],
        s2: ["ppt/p.xml", "slide", "slides/2.xml"],
        n: ["ppt/slides/2.xml", "notesSlide", "../notes.xml"],
        d: ["ppt/slides/2.xml", "diagramData", "../data.xml"],
      },
    )
    expect(await read("powerpoint", bytes)).toBe(
      "# First\n\n- One\n  - Two\n\nText\n\nIn a diagram\n\nTo be said.\n\nLast\n\n- Country: France; Fee: 5",
    )
  })
})

describe("a PDF", () => {
  /** The operators that draw lines, each with size and position. */
  const drawn = (...lines: [text: string, x: number, y: number, size?: number][]) =>
    `BT ${lines.map(([text, x, y, size = 10]) => `/F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text}) Tj`).join(" ")} ET`

  it("has headings by their size, and paragraphs of adjacent lines", async () => {
    const page = drawn(
      ["The handbook", 72, 760, 24],
      ["Returns", 72, 720, 16],
      ["Goods may be returned within thirty days, which is a legal require-", 72, 700],
      ["ment, and for another thirty days as a courtesy of ours.", 72, 688],
      ["A new paragraph stands below a gap.", 72, 664],
      ["Fees", 72, 640, 16],
      ["None.", 72, 620],
    )
    expect(await read("pdf", pdf([page]))).toBe(
      "# The handbook\n\n## Returns\n\nGoods may be returned within thirty days, which is a legal requirement, and for another thirty days as a courtesy of ours.\n\nA new paragraph stands below a gap.\n\n## Fees\n\nNone.",
    )
  })

  it("has lists and tables", async () => {
    const page = drawn(
      ["\\225 France", 72, 700],
      ["\\225 Spain, where it takes", 72, 688],
      ["longer", 80, 676],
      ["Country", 72, 640],
      ["Fee", 200, 640],
      ["France", 72, 626],
      ["5", 200, 626],
      ["Spain", 72, 612],
      ["7", 200, 612],
    )
    expect(await read("pdf", pdf([page]))).toBe(
      "- France\n- Spain, where it takes longer\n\n- Country: France; Fee: 5\n- Country: Spain; Fee: 7",
    )
  })
})

describe("a CSV file", () => {
  it.each([
    ["commas", 'Country,Fee\n"France, south",5\n'],
    ["semicolons", "Country;Fee\nFrance, south;5\n"],
    ["tabs", "Country\tFee\nFrance, south\t5\n"],
    ["bars", "Country|Fee\n\nFrance, south|5"],
  ])("is read by its %s", async (_what, text) => expect(await read("csv", Buffer.from(text))).toBe("- Country: France, south; Fee: 5"))
})
