"""The domain uses integers: ids and cents are formatted and parsed only at its edges."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

APPS = ("accounts", "carts", "checkouts", "commerce", "discounts", "emails", "shipping")
# Modules that format values for the outside.
FORMATS = {
    "commerce/formats.py": "of the API, for answers, events and refusals",
    "commerce/paging.py": "the cursor of an answer",
    "commerce/orders/shapes.py": "totals and lines of answers and emails",
    "commerce/orders/notifications.py": "variables of emails",
    "discounts/vouchers/notifications.py": "variables of emails",
    "commerce/payments/stripe/gateway.py": "of Stripe",
    "commerce/payments/stripe/webhook.py": "of Stripe",
    "commerce/tenancy/scope.py": "a setting of PostgreSQL",
    "shipping/pickup_feeds/packeta.py": "of Packeta",
    "shipping/zone_tester.py": "choices of an HTML form",
}


def conversions(source: str) -> Iterator[str]:
    """Find code that converts ids or cents to text, or a member of a JSON object to an integer."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="str"), args=[ast.Attribute(attr=name) | ast.Name(id=name)]):
                if name in {"id", "pk"} or name.endswith(("_id", "_cents", "_pk")):
                    yield ast.unparse(node)
            case ast.Call(
                func=ast.Name(id="int"), args=[ast.Subscript(slice=ast.Constant(value=str() as key))]
            ):
                if key == "id" or key.endswith(("_id", "_cents")):
                    yield ast.unparse(node)


def domain_files() -> Iterator[str]:
    for app in APPS:
        for path in sorted(Path(settings.BASE_DIR, app).rglob("*.py")):
            relative = path.relative_to(settings.BASE_DIR)
            if "api" not in relative.parts and str(relative) not in FORMATS:
                yield str(relative)


def test_domain_makes_no_text_of_ids_and_cents_and_parses_none():
    files = list(domain_files())
    found = {
        (file, conversion)
        for file in files
        for conversion in conversions(Path(settings.BASE_DIR, file).read_text())
    }

    assert {"checkouts/operations/pricing.py", "carts/totals.py", "shipping/matching.py"} <= set(files)
    assert found == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{"price": str(self.price_cents)}', ["str(self.price_cents)"]),
        ("str(order.pk)", ["str(order.pk)"]),
        ("str(discount_id)", ["str(discount_id)"]),
        ('int(entry["amount_cents"])', ["int(entry['amount_cents'])"]),
        ('int(entry["discount_id"])', ["int(entry['discount_id'])"]),
        ("str(error)", []),
        ('int(headers["content-length"])', []),
    ],
)
def test_what_is_found(source, expected):
    assert list(conversions(source)) == expected
