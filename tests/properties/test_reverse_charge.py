"""The reverse charge on any lines and charges: nothing is taxed, and removing it restores every amount."""

from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from carts.totals import price_line
from checkouts.lines import list_charged_lines
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.operations.pricing import apply_totals
from checkouts.totals import AMOUNTS
from commerce.orders.snapshots import ShippingSnapshot, VatSnapshot

PRICES = st.integers(0, 10**9)
RATES = st.sampled_from([0, 500, 700, 825, 1000, 1900, 2100, 2700, 10_000])


@st.composite
def frozen_lines(draw, includes_tax):
    quantity = draw(st.integers(1, 99))
    price = price_line(
        unit_price_cents=draw(PRICES), quantity=quantity, tax_rate_bp=draw(RATES), includes_tax=includes_tax
    )
    return CheckoutLineItem(
        account_id=1,
        quantity=quantity,
        tax_rate_bp=price.tax_rate_bp,
        unit_price_with_tax_cents=price.unit_with_tax_cents,
        unit_price_without_tax_cents=price.unit_without_tax_cents,
        line_total_with_tax_cents=price.with_tax_cents,
        line_total_without_tax_cents=price.without_tax_cents,
        line_tax_cents=price.tax_cents,
    )


def shipping_snapshot(*, price_cents, cod_fee_cents):
    return ShippingSnapshot(
        id=1,
        handle="courier",
        name="Courier",
        carrier="courier",
        service_code="home",
        rate_mode="flat",
        requires_pickup_point=False,
        is_cod_compatible=True,
        estimated_days_min=None,
        estimated_days_max=None,
        cod_fee_cents=cod_fee_cents,
        rate_id=2,
        price_cents=price_cents,
        currency="EUR",
        is_free=price_cents == 0,
        display_name="Courier",
    )


@st.composite
def checkouts(draw):
    includes_tax = draw(st.booleans())
    method = shipping_snapshot(price_cents=draw(PRICES), cod_fee_cents=draw(PRICES))
    checkout = Checkout(
        account_id=1,
        prices_include_tax=includes_tax,
        shipping_method=draw(st.sampled_from([None, method])),
        shipping_tax_rate_bp=draw(RATES),
        payment_method=draw(st.sampled_from([None, "cod"])),
    )
    return checkout, draw(st.lists(frozen_lines(includes_tax), max_size=20))


def totals(checkout, lines, *, reverse_charge):
    checkout.vat = VatSnapshot(
        country_code="AT", number="U57194903", status="valid", reverse_charge=reverse_charge
    )
    apply_totals(checkout, lines, now=timezone.now())
    return {name: getattr(checkout, name) for name in AMOUNTS}


@given(checkouts())
def test_nothing_is_taxed_and_the_total_is_what_its_parts_say(drawn):
    checkout, lines = drawn

    shown = totals(checkout, lines, reverse_charge=True)

    assert shown["tax_cents"] == shown["shipping_tax_cents"] == shown["cod_fee_tax_cents"] == 0
    assert shown["subtotal_with_tax_cents"] == shown["subtotal_without_tax_cents"]
    parts = shown["subtotal_with_tax_cents"] + shown["shipping_cents"] + shown["cod_fee_cents"]
    assert shown["total_cents"] == shown["amount_due_cents"] == parts


@given(checkouts())
def test_total_is_the_taxed_one_without_its_tax(drawn):
    checkout, lines = drawn

    taxed = totals(checkout, lines, reverse_charge=False)
    untaxed = totals(checkout, lines, reverse_charge=True)

    assert untaxed["total_cents"] == taxed["total_cents"] - taxed["tax_cents"]
    assert untaxed["subtotal_without_tax_cents"] == taxed["subtotal_without_tax_cents"]


@given(checkouts())
def test_taking_it_back_restores_every_amount(drawn):
    checkout, lines = drawn

    before = totals(checkout, lines, reverse_charge=False)
    totals(checkout, lines, reverse_charge=True)

    assert totals(checkout, lines, reverse_charge=False) == before


@given(checkouts())
def test_lines_as_charged_add_up_and_leave_the_frozen_ones_alone(drawn):
    checkout, lines = drawn
    frozen = [dict(vars(line)) for line in lines]

    shown = totals(checkout, lines, reverse_charge=True)
    charged = list_charged_lines(checkout, lines)

    assert sum(line.line_total_with_tax_cents for line in charged) == shown["subtotal_with_tax_cents"]
    assert all(line.line_tax_cents == line.tax_rate_bp == 0 for line in charged)
    assert all(line.unit_price_with_tax_cents == line.unit_price_without_tax_cents for line in charged)
    assert [dict(vars(line)) for line in lines] == frozen
