"""Confirmations of the longest orders, through the real rendering service: each is rendered, with all lines or the first."""

import pytest

from accounts.models import Account
from emails.messages import Origin
from emails.requests import EmailRequest
from emails.sender import ChosenTemplate, Sender
from emails.template_sources import TemplateSource, load_platform_templates
from tests.emails.providers.test_services import settings_of
from tests.emails.renderer.test_order_confirmation import line, order

MORE = {"en": "and {} more items", "cs": "a další položky: {}", "de": "und {} weitere Positionen"}
ORIGIN = Origin(name="Hats", email="hats@example.com", reply_to="")


@pytest.fixture
def message_of(renderer_service, settings):
    settings.RENDERER_URL = renderer_service.url

    def message_of(source, lines, template_key="order.confirmation"):
        request = EmailRequest(
            template_key=template_key,
            to_email="ann@example.com",
            customer_id=None,
            locale=source.locale,
            ctx={"order": order(line_items=lines)},
            reference_type="order",
            reference_id=1,
        )
        account = Account(name="Hats", default_timezone="UTC")
        sender = Sender(account=account, settings=settings_of("local"), origin=ORIGIN)
        return sender.render(request, ChosenTemplate(source=source, locale=source.locale))

    return message_of


def lines_of(title, count=500):
    return [line(title=title, sku=f"{number:064}") for number in range(count)]


@pytest.mark.parametrize("locale", MORE)
@pytest.mark.parametrize("template_key", ["order.confirmation", "order.shipped", "order.cancelled"])
@pytest.mark.parametrize(
    "title", ["\U0001f3a9" * 255, "&" * 255, "W" * 255], ids=["emoji", "escaped", "plain"]
)
def test_order_of_500_lines_with_the_longest_titles_is_rendered(message_of, template_key, locale, title):
    message = message_of(load_platform_templates()[template_key][locale], lines_of(title), template_key)

    # How many fit depends on the machine as well, as rendering has a second of processor time.
    shown = sum(f"{number:064}" in message.text for number in range(500))
    assert shown in {500, 100, 20}
    assert f"{shown - 1:064}" in message.text
    for part in (message.html, message.text):
        assert (MORE[locale].format(500 - shown) in part) is (shown < 500)


def test_order_that_fits_is_shown_whole(message_of):
    message = message_of(load_platform_templates()["order.confirmation"]["en"], lines_of("Straw hat", 60))

    assert "more items" not in message.html + message.text
    assert f"{59:064}" in message.html


def test_own_template_that_writes_much_about_each_line_is_rendered_with_fewer(message_of):
    cell = "{{ line.title }}" + "<br />" * 60
    rows = "{% for line in order.line_items %}<tr><td>" + cell + "</td></tr>{% endfor %}"
    body = f"<mjml><mj-body><mj-section><mj-column><mj-table>{rows}</mj-table></mj-column></mj-section></mj-body></mjml>"
    source = TemplateSource(
        template_key="order.confirmation", locale="en", subject="Order", body=body, preheader=None, text=None
    )

    message = message_of(source, lines_of("Straw hat"))

    assert message.html.count("Straw hat") == 20
