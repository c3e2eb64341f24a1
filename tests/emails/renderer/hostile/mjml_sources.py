"""MJML that is expensive, hides something or breaks a parser. Compiled or refused, it must not stop the service."""

from tests.emails.renderer.conftest import MJML


def _with_head(head: str, body: str = "Hello") -> str:
    return MJML.format(body).replace("<mjml>", f"<mjml><mj-head>{head}</mj-head>")


def _in_body(content: str) -> str:
    return f"<mjml><mj-body>{content}</mj-body></mjml>"


_DECLARATIONS = "".join(f"--property-{number}:1;" for number in range(10_000))
_PARAGRAPHS = "<p>x</p>" * 2_000
_ENTITIES = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
_CAROUSEL_IMAGE = '<mj-carousel-image src="https://example.com/i.png" />'

MJML_SOURCES = {
    "entity bomb": f'<!DOCTYPE mjml [<!ENTITY e0 "lol">{_ENTITIES}]>{MJML.format("&e12;")}',
    "external entity": f'<!DOCTYPE mjml [<!ENTITY e SYSTEM "file:///etc/passwd">]>{MJML.format("&e;")}',
    "external dtd": f'<!DOCTYPE mjml SYSTEM "http://127.0.0.1:1/x.dtd">{MJML.format("Hello")}',
    "processing instruction": f'<?xml-stylesheet href="file:///etc/passwd"?>{MJML.format("Hello")}',
    "cdata": MJML.format("<![CDATA[" + "x" * 50_000 + "]]>"),
    "unclosed cdata": MJML.format("<![CDATA[" * 5_000),
    "unclosed comments": MJML.format("<!--" * 20_000),
    "comment that never ends": MJML.format("<!-- <mj-text>"),
    "outlook conditionals": MJML.format("<!--[if mso]>" * 10_000),
    "closed outlook conditionals": MJML.format("<!--[if mso]><i><![endif]-->" * 4_900),
    "outlook conditionals and blanks": MJML.format("<![endif]-->" + " " * 100_000 + "x"),
    "unclosed tags": "<mjml><mj-body>" + "<mj-section><mj-column><mj-text>" * 1_500,
    "unclosed tag": "<mjml><mj-body><mj-section " + "a" * 100_000,
    "unclosed quotes": MJML.format('<a href="' * 4_000),
    "closing tags": MJML.format("Hello") + "</mjml>" * 30_000,
    "many closing tags of html": MJML.format("</p>" * 50_000),
    "angle brackets": MJML.format("<" * 200_000),
    "slashes in a tag": MJML.format("<p " + "/" * 200_000 + ">"),
    "equal signs in a tag": _in_body("<mj-section " + "=" * 100_000 + "></mj-section>"),
    "many attributes": _in_body("<mj-section " + " ".join(f"a{n}" for n in range(30_000)) + "></mj-section>"),
    "many attributes of html": MJML.format("<p " + "a=1 " * 50_000 + ">x</p>"),
    "repeated attribute": _in_body("<mj-section " + 'padding="1px" ' * 15_000 + "></mj-section>"),
    "long attribute": _in_body(f'<mj-section padding="{"1px " * 50_000}"></mj-section>'),
    "long word": MJML.format("x" * 240_000),
    "long line of blanks": MJML.format(" " * 240_000 + "x"),
    "many lines": MJML.format("\n" * 240_000),
    "many blank lines": MJML.format(" \n" * 100_000 + "x"),
    "non-breaking blanks": MJML.format("&nbsp;" * 40_000),
    "deep columns": _in_body(
        "<mj-section>" + "<mj-column>" * 1_000 + "</mj-column>" * 1_000 + "</mj-section>"
    ),
    "deep wrappers": _in_body("<mj-wrapper>" * 200 + "</mj-wrapper>" * 200),
    "deep groups": _in_body("<mj-group>" * 100 + "</mj-group>" * 100),
    "deep heads": "<mjml>" + "<mj-head>" * 200 + "</mj-head>" * 200 + "<mj-body></mj-body></mjml>",
    "many sections": _in_body("<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>" * 1_200),
    "many columns": _in_body("<mj-section>" + "<mj-column></mj-column>" * 4_000 + "</mj-section>"),
    "large carousel": _in_body(
        f"<mj-section><mj-column><mj-carousel>{_CAROUSEL_IMAGE * 400}</mj-carousel></mj-column></mj-section>"
    ),
    "larger carousel": _in_body(
        f"<mj-section><mj-column><mj-carousel>{_CAROUSEL_IMAGE * 4_000}</mj-carousel></mj-column></mj-section>"
    ),
    "many carousels": _in_body(
        "<mj-section><mj-column>"
        + f"<mj-carousel>{_CAROUSEL_IMAGE * 40}</mj-carousel>" * 100
        + "</mj-column></mj-section>"
    ),
    "odd lengths": _in_body(
        '<mj-section padding="1e999px" border="99999999999999999999px"><mj-column width="-1e400%">'
        '<mj-image width="1e309px" /></mj-column></mj-section>'
    ),
    "not a number": _in_body(
        '<mj-section padding="nanpx"><mj-column width="infpx"></mj-column></mj-section>'
    ),
    "digits of a length": _in_body(f'<mj-section padding="{"9" * 100_000}px"></mj-section>'),
    "digits of a width": _in_body(
        f'<mj-section><mj-column width="{"9" * 100_000}px"><mj-text>x</mj-text></mj-column></mj-section>'
    ),
    "body of no width": '<mjml><mj-body width="0px"><mj-section><mj-column /></mj-section></mj-body></mjml>',
    "body of odd width": '<mjml><mj-body width="x"><mj-section><mj-column /></mj-section></mj-body></mjml>',
    "classes that multiply": _with_head(
        "<mj-attributes>"
        + "".join(f'<mj-class name="c{n}" css-class="{"k" * 50} " />' for n in range(1_000))
        + "</mj-attributes>",
        "</mj-text>"
        + f'<mj-text mj-class="{" ".join(f"c{n}" for n in range(1_000))}">x</mj-text>' * 20
        + "<mj-text>",
    ),
    "defaults that multiply": _with_head(
        f'<mj-attributes><mj-all css-class="{"k" * 50_000}" /></mj-attributes>',
        "</mj-text>" + "<mj-text>x</mj-text>" * 1_000 + "<mj-text>",
    ),
    "inlined by default": _with_head(
        '<mj-attributes><mj-style inline="inline" /></mj-attributes>'
        f"<mj-style>p {{ {_DECLARATIONS[:100_000]} }}</mj-style>",
        _PARAGRAPHS,
    ),
    "inlined for all": _with_head(
        '<mj-attributes><mj-all inline="inline" /></mj-attributes>'
        f"<mj-style>p {{ {_DECLARATIONS[:100_000]} }}</mj-style>",
        _PARAGRAPHS,
    ),
    "inlined by class": _with_head(
        '<mj-attributes><mj-class name="c" inline="inline" /></mj-attributes>'
        f'<mj-style mj-class="c">p {{ {_DECLARATIONS[:100_000]} }}</mj-style>',
        _PARAGRAPHS,
    ),
    "costly selectors to inline": _with_head(
        f'<mj-style inline="inline">{"* " * 2_000}p {{ color: red }}</mj-style>', "<div>" * 2_000 + "<p>x</p>"
    ),
    "selectors of has and not": _with_head(
        f'<mj-style inline="inline">{":not(:has(p " * 200 + "))" * 200} {{ color: red }}</mj-style>',
        "<div>" * 500,
    ),
    "braces of css": _with_head('<mj-style inline="inline">' + "a{" * 5_000 + "</mj-style>"),
    "parentheses of css": _with_head(f'<mj-style inline="inline">p{{a:{"(" * 15_000}}}</mj-style>'),
    "nested css": _with_head(
        '<mj-style inline="inline">' + "@media all{" * 1_200 + "}" * 1_200 + "</mj-style>"
    ),
    "important": _with_head(
        f'<mj-style inline="inline">p {{ color: red {"!important" * 1_000} }}</mj-style>', "<p>x</p>" * 400
    ),
    "attributes by selector": _with_head(
        '<mj-html-attributes><mj-selector path="'
        + "* > " * 300
        + '*"><mj-html-attribute name="a">b</mj-html-attribute></mj-selector></mj-html-attributes>',
        "<div>" * 1_000,
    ),
    "attributes by many selectors": _with_head(
        "<mj-html-attributes>"
        + "".join(
            f'<mj-selector path="div div p{n}"><mj-html-attribute name="a">b</mj-html-attribute></mj-selector>'
            for n in range(800)
        )
        + "</mj-html-attributes>",
        "<div>" * 2_000,
    ),
    "attributes by a nested selector": _with_head(
        '<mj-html-attributes><mj-selector path="'
        + ":not(" * 2_000
        + "p"
        + ")" * 2_000
        + '"><mj-html-attribute name="a">b</mj-html-attribute></mj-selector></mj-html-attributes>'
    ),
    "attributes by a selector slow to parse": _with_head(
        '<mj-html-attributes><mj-selector path="['
        + "a" * 60_000
        + '"><mj-html-attribute name="a">b</mj-html-attribute></mj-selector></mj-html-attributes>'
    ),
    "raw file start": "<mjml><mj-raw position='file-start'>"
    + "<x" * 2_000
    + "</mj-raw><mj-body></mj-body></mjml>",
    "raw in raw": _in_body("<mj-raw>" * 1_000 + "</mj-raw>" * 1_000),
    "markup in a title": _with_head("<mj-title>" + "</title><script>" * 1_000 + "</mj-title>"),
    "includes": _in_body('<mj-include path="/etc/passwd" />' * 4_000),
    "include in an attribute": _in_body("<mj-section x=\"<mj-include path='/etc/passwd' />\"></mj-section>"),
    "include in an unclosed comment": _in_body('<!-- --!><mj-include path="/etc/passwd" /> -->'),
    "breakpoint": _with_head('<mj-breakpoint width="' + "9" * 50_000 + 'px" />'),
    "fonts": _with_head('<mj-font name="f" href="http://127.0.0.1:1/" />' * 2_000),
    "repeated font": _with_head(
        '<mj-font name="f" href="http://127.0.0.1:1/" />' * 2, '<p style="font-family:f">'
    ),
    "character references": MJML.format("&#0;&#xD800;&#1114112;&#99999999999999999999999;&#x;" * 100),
    "digits of a reference": MJML.format(f"&#{'9' * 100_000};"),
    "control characters": MJML.format("".join(map(chr, range(32))) + "\x7f\x80\ufeff\uffff\U0010ffff"),
    "null in a tag": _in_body("<mj-sec\x00tion></mj-section>"),
    "null in an attribute": _in_body('<mj-section css-class="a\x00b"></mj-section>'),
    "right to left and combining": MJML.format("\u202e" * 10_000 + "e\u0301" + "\u0301" * 100_000),
    "tables in tables": MJML.format("<table><tr><td>" * 1_500),
    "wide table": MJML.format("<table><tr>" + "<td>x</td>" * 4_900 + "</tr></table>"),
    "colspans": MJML.format(
        '<table><tr><td colspan="999999999" rowspan="999999999">x</td></tr></table>' * 500
    ),
    "lists in lists": MJML.format("<ul><li>" * 2_000 + "x"),
    "uneven rows": MJML.format("<table>" + "<tr><td>x<td>y" * 1_500 + "</table>"),
    "styles of text": MJML.format('<p style="margin: 99999999em; padding-left: 99999999px">x</p>' * 1_000),
    "mj-table": _in_body(
        "<mj-section><mj-column><mj-table>" + "<tr><td>" * 2_000 + "</mj-table></mj-column></mj-section>"
    ),
    "unknown tags": _in_body("<mj-none></mj-none>" * 2_000),
    "tags in the wrong place": _in_body("<mj-body><mj-head></mj-head></mj-body><mjml></mjml>" * 400),
    "two bodies": "<mjml><mj-body></mj-body><mj-body></mj-body></mjml>",
    "mjml in mjml": "<mjml>" * 500 + "<mj-body></mj-body>" + "</mjml>" * 500,
    "marked sections": MJML.format("<![if !mso]>" * 3_000),
    "attribute without a value": "<mjml lang><mj-body width><mj-section padding></mj-section></mj-body></mjml>",
    "true and false": '<mjml lang="true"><mj-body css-class="false"><mj-section mj-class="true" /></mj-body></mjml>',
}
