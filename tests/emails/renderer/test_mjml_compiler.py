"""What mrml alone would refuse or compile differently from other MJML compilers."""

import re

import pytest

from emails.renderer.mjml_compiler import compile_mjml
from tests.emails.renderer.conftest import MJML


def html_of(mjml):
    return compile_mjml(mjml, preheader=None).html


def body_of(content):
    """The HTML of a document with this body, from its start."""
    html = html_of(f"<mjml><mj-body>{content}</mj-body></mjml>")
    return html[html.index("<body") :]


def with_head(head, content="x"):
    return MJML.format(content).replace("<mjml>", f"<mjml><mj-head>{head}</mj-head>")


@pytest.mark.parametrize(
    "content",
    [
        "<p>one<p>two",
        "1 < 2 & 3 > 2",
        "<a href=x nowrap>y</a>",
        "</i>stray",
        "&nbsp;&euro;&unknown;",
        "<![CDATA[x]]><?php x ?>",
        "<script>if (a<b) c()</script>",
        "<!-- a -- b -->",
        "<table><tr><td>x</table>",
    ],
)
def test_html_is_kept_as_it_was_written(content):
    assert f">{content}</div>" in html_of(MJML.format(content))


@pytest.mark.parametrize("before", ["<!doctype mjml>", '<?xml version="1.0"?>', "Hello ", "<!-- x -->"])
def test_document_may_begin_with_something_else(before):
    assert ">x</div>" in html_of(before + MJML.format("x"))


def test_names_may_be_in_capitals():
    assert ">x</div>" in html_of(MJML.format("x").replace("mj-body", "MJ-Body").replace("mj-text", "MJ-TEXT"))


@pytest.mark.parametrize(
    "parent", ["accordion", "accordion-element", "carousel", "divider", "image", "navbar", "social", "spacer"]
)
def test_what_has_no_place_in_an_element_is_left_out(parent):
    images = '<mj-carousel-image src="a" />' if parent == "carousel" else ""
    text = "<!-- x --><mj-text>odd</mj-text>"

    html = body_of(
        f"<mj-section><mj-column><mj-{parent}>{images}{text}</mj-{parent}><mj-text>after</mj-text></mj-column></mj-section>"
    )

    assert "odd" not in html
    assert ">after</div>" in html


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        ("mj-social", '<mj-social-element href="a">{}</mj-social-element>'),
        ("mj-navbar", '<mj-navbar-link href="a">{}</mj-navbar-link>'),
        (
            "mj-accordion",
            "<mj-accordion-element><mj-accordion-title>{}</mj-accordion-title></mj-accordion-element>",
        ),
    ],
)
@pytest.mark.parametrize("kept", ["<mj-raw>{}</mj-raw>", "{}"])
def test_html_between_elements_stays_in_its_place(parent, child, kept):
    written = "<!--[if mso]><td><![endif]-->"
    content = child.format("ONE") + kept.format(written) + child.format("TWO")

    html = body_of(f"<mj-section><mj-column><{parent}>{content}</{parent}></mj-column></mj-section>")

    before, after = html.split(written)
    assert ("ONE" in before, "TWO" in before) == (True, False)
    assert ("ONE" in after, "TWO" in after) == (False, True)
    # Not within a tag or a comment.
    assert before.rstrip().endswith(">")
    assert after.lstrip().startswith("<")


@pytest.mark.parametrize(
    ("content", "warnings"),
    [
        (
            "<mj-accordion><mj-accordion-element>\n<mj-raw>x</mj-raw><!-- y --></mj-accordion-element></mj-accordion>",
            [
                (2, "mj-accordion-element", "mj-raw inside of it is left out"),
                (2, "mj-accordion-element", "a comment inside of it is left out"),
            ],
        ),
        (
            '<mj-carousel><mj-carousel-image src="a" />\n<!-- x --></mj-carousel>',
            [(2, "mj-carousel", "a comment inside of it is left out")],
        ),
        ("<mj-accordion><!-- x --><mj-raw>y</mj-raw></mj-accordion>", []),
    ],
)
def test_what_is_left_out_is_a_mistake(content, warnings):
    source = f"<mjml><mj-body><mj-section><mj-column>{content}</mj-column></mj-section></mj-body></mjml>"

    found = compile_mjml(source, preheader=None).warnings

    assert [(warning.line, warning.tag, warning.message) for warning in found] == warnings


@pytest.mark.parametrize("tag", ["mj-none", "div", "mj-body", "mj-head"])
def test_unknown_element_of_the_body_is_left_out(tag):
    assert ">x<" not in body_of(f"<mj-section><mj-column><{tag}>x</{tag}></mj-column></mj-section>")


def test_comment_of_the_body_is_kept():
    assert "<!--[if mso]><b>x</b><![endif]-->" in body_of("<!--[if mso]><b>x</b><![endif]-->")


def test_variable_in_an_attribute_has_no_effect_beyond_it():
    odd = "\x01\ufffe&quot;&lt;&amp;amp;"

    html = body_of(f'<mj-section><mj-column><mj-image src="{odd}" /></mj-column></mj-section>')

    assert 'src="&quot;&lt;&amp;amp;"' in html


def test_classes_are_merged_in_their_order():
    head = (
        '<mj-attributes><mj-text color="black" css-class="all" /><mj-all font-size="9px" />'
        '<mj-class name="a" color="red" css-class="one" />'
        '<mj-class name="b" color="blue" css-class="two" align="right" /></mj-attributes>'
    )
    source = with_head(head).replace("<mj-text>", '<mj-text mj-class="a b none" align="center">')

    html = html_of(source)

    assert '<td align="center" class="one two"' in html
    assert "font-size:9px;line-height:1;text-align:center;color:blue;" in html


def test_class_has_defaults_for_what_is_inside():
    head = '<mj-attributes><mj-class name="a"><mj-text color="red" /></mj-class></mj-attributes>'
    source = with_head(head, 'in</mj-text><mj-text color="blue">own').replace(
        "<mj-section>", '<mj-section mj-class="a">'
    )

    assert re.findall(r"color:(red|blue);\">(\w+)<", html_of(source)) == [("red", "in"), ("blue", "own")]


@pytest.mark.parametrize("padding", ["0 32px", "0px 32px", "0 32px 0"])
def test_columns_for_outlook_leave_room_for_padding(padding):
    html = body_of(f'<mj-section padding="{padding}"><mj-column></mj-column></mj-section>')

    assert '<td style="vertical-align:top;width:536px;">' in html


def test_image_without_a_text_has_an_empty_one():
    html = body_of('<mj-section><mj-column><mj-image src="a" /></mj-column></mj-section>')

    assert '<img alt="" height="auto" src="a"' in html


@pytest.mark.parametrize(
    ("head", "content"),
    [
        ("", '<p style="font-family: Lato">x</p>'),
        ('<mj-style inline="inline">p { font-family: lato, serif; }</mj-style>', "x"),
        ('<mj-attributes><mj-all font-family="Lato, serif" /></mj-attributes>', "x"),
    ],
    ids=["html", "css", "attribute"],
)
def test_font_that_a_style_names_is_loaded(head, content):
    own = '<mj-font name="Lato" href="https://fonts.test/?a=1&b=2" /><mj-font name="Other" href="no" />'

    loaded = re.findall(r'<link href="([^"]*)"', html_of(with_head(own + head, content)))

    assert "https://fonts.test/?a=1&amp;b=2" in loaded
    assert set(loaded) <= {
        "https://fonts.test/?a=1&amp;b=2",
        "https://fonts.googleapis.com/css?family=Ubuntu:300,400,500,700",
    }


def test_head_keeps_what_is_written_for_it():
    head = '<mj-title>"A" &amp; B</mj-title><mj-style>a &gt; b {}</mj-style><mj-raw><meta name="x"></mj-raw>'

    html = html_of(with_head(head))

    assert "<title>&quot;A&quot; &amp; B</title>" in html
    assert 'aria-label="&quot;A&quot; &amp; B"' in html
    assert '<style type="text/css">a > b {}</style>' in html
    assert '<meta name="x"></head>' in html


def test_html_before_the_document_stays_there():
    source = MJML.format("x").replace("<mjml>", "<mjml><mj-raw position='file-start'><%x%></mj-raw>")

    assert html_of(source).startswith("<%x%><!doctype html>")


def test_html_attributes_are_set_on_what_their_selector_finds():
    head = (
        '<mj-html-attributes><mj-selector path="p &gt; b.a"><mj-html-attribute name="data-id">1"2</mj-html-attribute>'
        "</mj-selector></mj-html-attributes>"
    )

    html = html_of(with_head(head, '<p><b class="a">x</b></p><b class="a">y</b>'))

    assert '<p><b class="a" data-id=\'1"2\'>x</b></p><b class="a">y</b>' in html


def test_inlined_css_has_no_important():
    head = '<mj-style inline="inline">p { color: red !important; }</mj-style>'

    assert '<p style="color: red;">x</p>' in html_of(with_head(head, "<p>x</p>"))


def test_mistakes_are_looked_for_only_when_wanted():
    source = MJML.format("x").replace("<mj-text>", '<mj-text no="1">')

    assert [warning.tag for warning in compile_mjml(source, preheader=None).warnings] == ["mj-text"]
    assert compile_mjml(source, preheader=None, wants_warnings=False).warnings == []
