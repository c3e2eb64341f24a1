import pytest

from emails.renderer.mjml_compiler import compile_mjml
from emails.renderer.plain_text import extract_text, join_lines, tidy
from tests.emails.renderer.conftest import MJML


def text_of(content):
    return extract_text(compile_mjml(MJML.format(content), preheader="Hidden").html)


def test_components_become_paragraphs():
    content = "One</mj-text><mj-text>Two<br />three</mj-text><mj-divider /><mj-text>Four"

    assert text_of(content) == "One\n\nTwo\nthree\n\nFour"


def test_table_of_data_keeps_its_columns():
    table = "<table><tr><td>Straw hat</td><td>€12.00</td></tr><tr><td>Cap</td><td>€5.00</td></tr></table>"

    assert text_of(table) == "Straw hat  €12.00\nCap        €5.00"


def test_links_show_their_targets():
    content = '<a href="https://x.test/pay">\n  Pay now\n</a>, <a href="https://x.test">https://x.test</a>, <a>none</a>'

    assert text_of(content) == "Pay now (https://x.test/pay), https://x.test, none"


def test_comments_and_hidden_parts_are_left_out():
    content = 'Seen<!-- comment --><!--[if mso]>Outlook<![endif]--><span style="display: none">hidden</span>'

    assert text_of(content) == "Seen"


def test_entities_are_decoded():
    assert text_of("&lt;Ann&gt; &amp; Bob") == "<Ann> & Bob"


def test_xml_declaration_before_the_document_is_no_obstacle():
    assert extract_text('<?xml version="1.0" encoding="latin-1"?><html><body>Žluť</body></html>') == "Žluť"


def test_hidden_root_is_shown():
    assert extract_text('<html style="display:none"><body>Text</body></html>') == "Text"


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("\n\n a \t\r\n\r\n\r\n\r\nb\n\n", " a\n\nb"),
        ("a\nb", "a\nb"),
        ("a\rb\tc", "a\nb\tc"),
        ("a\x00b\x0bc\x1bd\x7fe\x9bf", "abcdef"),
        ("", ""),
    ],
)
def test_tidy_trims_blank_lines_and_line_ends(text, tidied):
    assert tidy(text) == tidied


def test_single_line_keeps_joined_emoji():
    assert join_lines(" 👩\N{ZERO WIDTH JOINER}🚀 \x07\x1b\n done ") == "👩\N{ZERO WIDTH JOINER}🚀 done"
