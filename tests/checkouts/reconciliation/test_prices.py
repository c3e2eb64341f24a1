"""`manage.py reconcile`: finds shipping, fees and taxes that don't follow from the prices."""

import pytest

from accounts.models import Account
from tests import factories
from tests.checkouts.reconciliation.command import damage, reconcile
from tests.storefront import PHASES, enter_checkout, take_step

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=[True, False], ids=["gross", "net"])
def taxed_shop(make_shop, request):
    shop = make_shop(prices_include_tax=request.param)
    factories.make_tax_rate(shop)
    return shop


def rate_of(shop):
    method = factories.make_method(shop, cod_fee_cents=151, is_cod_compatible=True)
    return factories.make_rate(shop, price_cents=491, method=method)


def walk(shop, rate, phase, *, codes=()):
    checkout = enter_checkout(
        shop,
        (factories.make_variant(shop, price_cents=1999), 3),
        (factories.make_variant(shop, price_cents=333), 7),
    )
    for code in codes:
        answer = shop.storefront.post(f"checkouts/{checkout['token']}/discount.json", {"code": code})
        assert answer.status_code == 200
    for step in PHASES[1 : PHASES.index(phase) + 1]:
        checkout = take_step(step, shop, checkout["token"], rate=rate)
    return checkout


@pytest.mark.parametrize("is_reverse_charge", [False, True])
def test_taxes_of_every_kind_agree(taxed_shop, is_reverse_charge, vies):
    shop = taxed_shop
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(vat_number="CZ25123891")
    factories.make_discount(shop, code="SEVENTH", value_amount=1433)
    factories.make_discount(shop, code="SHIP", type="shipping_discount", stackable=True)
    rate = rate_of(shop)

    for codes in ((), ("SEVENTH",), ("SHIP",)):
        checkout = walk(shop, rate, "shipping", codes=codes)
        if is_reverse_charge:
            body = {"vat_country_code": "AT", "vat_number": "U57194903"}
            answer = shop.storefront.put(f"checkouts/{checkout['token']}/vat.json", body).json()["checkout"]
            assert answer["vat"]["reverse_charge"] is True
        for step in ("payment", "processing", "ready", "completed"):
            shown = take_step(step, shop, checkout["token"], rate=rate)
        assert (int(shown["totals"]["tax_cents"]) == 0) == is_reverse_charge
        assert int(shown["totals"]["cod_fee_cents"]) > 0

    assert reconcile(shop) == []


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("tax_cents = tax_cents + 1, subtotal_with_tax_cents = subtotal_with_tax_cents", ["tax_cents"]),
        ("shipping_tax_cents = shipping_tax_cents + 1", ["shipping_tax_cents"]),
        ("cod_fee_tax_cents = 0", ["cod_fee_tax_cents"]),
        (
            "shipping_cents = shipping_cents + 1, total_cents = total_cents + 1, amount_due_cents = amount_due_cents + 1",
            ["shipping_cents"],
        ),
        ("payment_method = 'bank_transfer'", ["cod_fee_cents", "cod_fee_tax_cents", "tax_cents"]),
    ],
)
def test_amount_that_is_not_what_the_prices_come_to_is_found(make_shop, change, names):
    shop = make_shop(prices_include_tax=True)
    factories.make_tax_rate(shop)
    checkout = walk(shop, rate_of(shop), "payment")
    assert reconcile(shop) == []

    damage(shop, f"UPDATE checkouts SET {change} WHERE account_id = %(shop)s")

    assert [line.partition(" of ")[0] for line in reconcile(shop)] == [
        f"checkout {checkout['id']} has {name}" for name in names
    ]


def test_line_whose_units_do_not_come_to_its_total_is_found(make_shop):
    shop = make_shop(prices_include_tax=True)
    checkout = walk(shop, rate_of(shop), "payment")

    damage(
        shop,
        "UPDATE checkout_line_items SET unit_price_with_tax_cents = 7, unit_price_without_tax_cents = 7"
        " WHERE account_id = %(shop)s AND position = 1",
    )

    assert reconcile(shop) == [f"checkout {checkout['id']}, line 1: 3 units at 7 don't come to 5997"]
