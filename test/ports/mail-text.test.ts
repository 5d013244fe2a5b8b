import fc from "fast-check"
import { htmlOf, writtenText } from "../../src/ports/channel/mail-text.js"
import { duration, pace } from "../kit/pace.js"

const lines = (...all: string[]) => all.join("\r\n")

describe("the text of a mail", () => {
  it.each([
    [
      "Gmail",
      lines(
        "Yes, please.",
        "",
        "On Mon, Nov 16, 2026 at 3:11 PM Shop of Long Names Ltd",
        "<support@shop.example> wrote:",
        "",
        "> Blue?",
        ">",
        "> Shop",
      ),
      "Yes, please.",
    ],
    [
      "Outlook",
      lines(
        "Yes, please.",
        "",
        "________________________________",
        "From: Shop <support@shop.example>",
        "Sent: Monday, November 16, 2026 3:11 PM",
        "To: Ada",
        "Subject: Re: Order",
        "",
        "Blue?",
      ),
      "Yes, please.",
    ],
    [
      "an iPhone",
      lines("Yes", "", "Sent from my iPhone", "", "> On 16. Nov 2026, at 15:11, Shop <support@shop.example> wrote:", "> ", "> Blue?"),
      "Yes",
    ],
    ["Gmail in Ukrainian", lines("Так", "", "пн, 16 лист. 2026 р. о 15:11 Shop <support@shop.example> пише:", "", "> Синій?"), "Так"],
    ["Thunderbird in German", lines("Ja", "", "Am 16.11.26 um 15:11 schrieb Shop:", "> Blau?"), "Ja"],
    ["one with answers between the quoted lines", lines("> Blue?", "", "Yes", "", "> Large?", "", "No"), "Yes\nNo"],
    ["one with nothing of its own", lines("> Blue?", "> Large?"), "> Blue?\n> Large?"],
    [
      "one with an address before a colon",
      lines("Write to", "", "Ada <ada@example.org> or Bob:", "", "both are here"),
      "Write to\n\nAda <ada@example.org> or Bob:\n\nboth are here",
    ],
    ["one with odd spaces", lines("One\u00a0two  ", "", "", "", "three"), "One two\n\nthree"],
  ])("of %s", (_program, text, expected) => {
    expect(writtenText(text, "<p>not this</p>")).toBe(expected)
  })

  it.each([
    [
      "Gmail",
      '<div dir="ltr">Yes, <b>please</b>.<div><br></div><div>Ada</div></div><br><div class="gmail_quote gmail_quote_container"><div class="gmail_attr">On Mon Shop wrote:<br></div><blockquote class="gmail_quote">Blue?</blockquote></div>',
      "Yes, please.\n\nAda",
    ],
    [
      "Outlook",
      '<html><head><style>p {margin:0}</style></head><body><div class="elementToProof">Yes, please.</div><div id="appendonsend"></div><hr style="width:98%"><div id="divRplyFwdMsg"><b>From:</b> Shop<br></div><div>Blue?</div></body></html>',
      "Yes, please.",
    ],
    [
      "Apple Mail",
      '<body>Yes<div><br><blockquote type="cite"><div>On 16. Nov 2026, Shop wrote:</div><div>Blue?</div></blockquote></div></body>',
      "Yes",
    ],
    ["Yahoo", '<div>Yes</div><div class="yahoo_quoted"><div>On Monday Shop wrote:</div>Blue?</div>', "Yes"],
    ["a forwarded mail", '<div class="gmail_quote">---------- Forwarded message<br>Hello</div>', "---------- Forwarded message\nHello"],
    [
      "one with a list, a link and a picture",
      '<ul><li>One</li></ul><h1>Big</h1><a href="https://x.example/a">site</a> <a href="https://x.example">https://x.example</a><img src="cid:1" alt="logo">',
      "* One\n\nBig\n\nsite [https://x.example/a] https://x.example",
    ],
    ["one with a script", "<script>alert(1)</script><style>p{}</style><p>Hi</p>", "Hi"],
  ])("in HTML of %s", (_program, html, expected) => {
    expect(writtenText(null, html)).toBe(expected)
    expect(writtenText(" \r\n", html)).toBe(expected)
  })

  it("is empty for an empty mail", () => {
    expect([writtenText(null, null), writtenText("", "<p></p>"), writtenText("\n", null)]).toEqual(["", "[unsupported: HTML]", ""])
  })

  it("keeps a long text whole, and reads only the beginning of a long thread", () => {
    const long = "A line of a log\n".repeat(10_000).trim()
    expect(writtenText(long, null)).toBe(long)
    const thread = `Yes\n\nOn Mon, Nov 16, 2026 Shop <s@shop.example> wrote:\n\n${"> Blue?\n".repeat(20_000)}`
    expect(writtenText(thread, null)).toBe("Yes")
    const quoted = `> Send the log\n\n${long}`
    expect(writtenText(quoted, null)).toBe(long)
  })

  it.each([
    ["empty lines", "\n".repeat(200_000), null],
    ["heads of quotes", "abc. skrev x\n".repeat(8000), null],
    ["deep HTML", null, "<div>".repeat(200_000)],
    ["deep tables", null, "<table><tr><td>".repeat(60_000)],
    ["open tags", null, "<a href=x ".repeat(100_000)],
  ])("does not take long for %s", async (what, text, html) => {
    await pace(`the text of a mail with ${what}`, 1_000, "ms", () => duration(() => writtenText(text, html)))
  })

  it("is read from anything", () => {
    const word = fc.constantFrom(
      "\n",
      "> ",
      "On a <b@c> wrote:",
      "-- ",
      "<div>",
      "</div>",
      '<blockquote type="cite">',
      "\u0001",
      "\0",
      "&nbsp;",
      "text",
      "\ud800",
    )
    const text = fc.array(fc.oneof(word, fc.string()), { maxLength: 30 }).map((words) => words.join(""))
    fc.assert(
      fc.property(fc.option(text), fc.option(text), (plain, html) => typeof writtenText(plain, html) === "string"),
      { numRuns: 300 },
    )
  })
})

it("a text becomes HTML that shows the same", () => {
  expect(htmlOf("a <b> & c\nd\n\n\ne")).toBe("<p>a &lt;b&gt; &amp; c<br>\nd</p>\n<p>e</p>")
  expect(writtenText(null, htmlOf("a <b> & c\nd\n\ne"))).toBe("a <b> & c\nd\n\ne")
})
