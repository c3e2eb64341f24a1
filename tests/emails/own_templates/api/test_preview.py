import pytest

from tests.emails.api.sending import send
from tests.emails.own_templates.conftest import PATH, body, template_error, versions
from tests.emails.renderer.conftest import MJML
from tests.factories import make_customer
from tests.problems import field_errors, problem


def test_preview_shows_the_template_in_force(shop, renderer):
    answer = shop.admin.post(f"{PATH}/en/preview.json", {})

    assert answer.status_code == 200
    shown = answer.json()
    assert shown["subject"] == f"Your order 1001 at {shop.handle.title()}"
    assert "Straw hat" in shown["html"]
    assert "Straw hat" in shown["text"]
    assert shown["preheader"].startswith("We have received")
    assert shown["warnings"] == []


def test_preview_shows_changes_of_it_and_keeps_nothing(shop, renderer):
    sent = {"subject": "{{ name }}", "preheader": None, "body_source": body()["body_source"], "body_text": ""}

    shown = shop.admin.post(f"{PATH}/de/preview.json", sent | {"ctx": {"name": "Ann"}}).json()

    assert shown["subject"] == "Ann"
    assert shown["preheader"] is None
    assert shown["text"] == "Hello"
    assert versions(shop) == []


def test_preview_is_in_the_locale_that_it_is_written_for(shop, renderer):
    money = MJML.format("{{ order.totals.total_cents | money: order.currency }}")

    french = shop.admin.post(f"{PATH}/fr/preview.json", {"body_source": money, "body_text": None}).json()
    fallback = shop.admin.post(f"{PATH}/fr/preview.json", {}).json()

    assert french["text"].replace("\N{NO-BREAK SPACE}", " ") == "94,00 €"
    assert "€94.00" in fallback["text"]


def test_preview_with_an_error_names_its_line(shop, renderer):
    answer = shop.admin.post(f"{PATH}/de/preview.json", {"body_source": "\n{% nope %}"})

    assert template_error(answer) == ("body_source", "template_syntax_error", 2)


def test_preview_without_the_renderer_fails(shop, no_renderer):
    assert problem(shop.admin.post(f"{PATH}/de/preview.json", {})) == (502, "renderer_failed")


def test_preview_may_carry_an_idempotency_key(shop, renderer):
    first = shop.admin.post(f"{PATH}/de/preview.json", {}, idempotency_key="a")
    second = shop.admin.post(f"{PATH}/de/preview.json", {}, idempotency_key="a")

    assert second["Idempotent-Replayed"] == "true"
    assert second.json() == first.json()


@pytest.mark.parametrize(
    ("ctx", "code"),
    [
        ({"a": [[[]] * 7000] * 3}, "too_large"),
        ({"a": 2**60}, "validation_failed"),
        ([], "validation_failed"),
        ("x", "validation_failed"),
    ],
)
def test_preview_with_variables_that_are_none_is_refused(shop, no_renderer, ctx, code):
    answer = shop.admin.post(f"{PATH}/de/preview.json", {"ctx": ctx})

    assert problem(answer) == (422, code)


def test_variables_of_an_order_of_500_lines_can_be_previewed_tested_and_sent(shop, renderer, mail_dir):
    line = {"title": "Straw hat", "sku": "HAT"} | {f"f{number}": number for number in range(16)}
    # More than 19,000 names and values.
    ctx = {"order": {"number": "1001", "currency": "EUR", "line_items": [line] * 528}}
    customer = make_customer(shop)

    draft = {"body_source": MJML.format("Straw hats"), "body_text": None, "ctx": ctx}
    previewed = shop.admin.post(f"{PATH}/de/preview.json", draft)
    tested = shop.admin.post(f"{PATH}/de/test_send.json", {"to_email": "me@example.com", "ctx": ctx})
    sent = send(shop, customer, ctx=ctx)

    assert (previewed.status_code, tested.status_code, sent.status_code) == (200, 201, 201)


def test_preview_with_variables_nested_too_deeply_is_refused(shop, no_renderer):
    deep = {}
    for _ in range(40):
        deep = {"a": [deep]}

    answer = shop.admin.post(f"{PATH}/de/preview.json", {"ctx": deep})

    assert field_errors(answer) == {("ctx", "too_deep")}
