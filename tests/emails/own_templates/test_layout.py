"""An account's own template without `<mjml>` is put into the layout of the platform's templates."""

import pytest

from tests.emails.own_templates.conftest import PATH, body, template_error, versions

SECTION = "<mj-section><mj-column><mj-text>{}</mj-text></mj-column></mj-section>"


def preview(shop, locale, source):
    return shop.admin.post(f"{PATH}/{locale}/preview.json", {"body_source": source, "body_text": None})


@pytest.mark.parametrize(
    ("locale", "reason"),
    [("en", "ada@example.com about order 1001."), ("de-AT", "ada@example.com zur Bestellung 1001 gesendet.")],
)
def test_sections_get_the_header_and_footer_of_their_locale(shop, renderer, locale, reason):
    shown = preview(shop, locale, SECTION.format("Hello {{ order.number }}")).json()

    assert f'<html lang="{locale}"' in shown["html"]
    assert shown["text"].startswith(f"{shop.handle.title()}\n\nHello 1001\n\n")
    assert shown["text"].endswith(reason)
    assert shown["warnings"] == []


def test_locale_that_the_platform_does_not_know_gets_the_nearest_texts(shop, renderer):
    shown = preview(shop, "fr", SECTION.format("{{ totals.total_cents | money: currency }}")).json()

    assert '<html lang="fr"' in shown["html"]
    assert shown["text"].replace("\N{NO-BREAK SPACE}", " ").split("\n\n")[1] == "94,00 €"
    assert "about order 1001." in shown["text"]


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        (SECTION.format("Hello") + "\n\n{% nope %}", "template_syntax_error", 3),
        (SECTION.format("Hello") + "\n<mj-section>\n", "invalid_mjml", 2),
    ],
)
def test_error_is_told_with_the_line_of_the_sections(shop, renderer, source, code, line):
    answer = shop.admin.put(f"{PATH}/de.json", body(body_source=source))

    assert template_error(answer)[:2] == ("body_source", code)
    assert template_error(answer)[2] == line
    assert versions(shop) == []


def test_whole_document_is_left_as_it_is(shop, renderer):
    shown = preview(shop, "en", body()["body_source"]).json()

    assert shown["text"] == "Hello Ada"
