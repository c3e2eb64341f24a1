"""REST, the operation and the back office refuse a bad value with the same code, and nothing changes."""

import json

import pytest
from django.utils import timezone

from accounts.models import Account, StaffInvitation, StaffMembership
from accounts.operations import UNLIMITED, add_member, change_role, invite_member, update_account
from commerce.catalog.models import Variant, VariantPricing
from commerce.catalog.operations import (
    add_pricing,
    add_variant,
    set_pricing,
    update_product,
    update_variant,
)
from commerce.customers.operations import change_preferences
from commerce.errors import ValidationFailed
from commerce.inventory.models import InventoryAdjustment
from commerce.inventory.operations import adjust_level
from commerce.orders.models import Order
from commerce.orders.operations import fulfill_order
from discounts.models import Discount, Voucher
from discounts.operations import update_discount
from discounts.vouchers.operations import issue_voucher, revoke_voucher
from shipping.models import ShippingMethod, ShippingRate
from shipping.operations import create_rate
from tests import factories
from tests.backoffice.clients import make_user
from tests.backoffice.kinds import BROKEN, KINDS
from tests.problems import field_errors
from tests.storefront import checkout_in


def body_of(kind, shop):
    """Build a valid body; methods need a zone."""
    return kind.body | ({"zone_id": factories.make_zone(shop).pk} if kind.model is ShippingMethod else {})


def count(model, shop):
    with shop.scope():
        return model._default_manager.count()


def typed(fields):
    """Return the fields as typed into a form."""
    return {name.removesuffix("_id"): _typed(name, value) for name, value in fields.items()}


def _typed(name, value):
    # All measures here have two decimals.
    if isinstance(value, int) and name.endswith(("_cents", "_bp", "value_amount")):
        return f"{value / 100:.2f}"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else value


def errors_of(refused):
    return [(error.field, error.code) for error in refused.value.errors]


def codes_of(form):
    """Return field and code of every error that a form shows."""
    return {(name, error["code"]) for name, errors in form.errors.get_json_data().items() for error in errors}


@pytest.mark.parametrize(("name", "fields", "path", "code"), BROKEN)
def test_rest_refuses(shop, name, fields, path, code):
    kind = KINDS[name]
    body, before = body_of(kind, shop), count(kind.model, shop)

    answer = shop.admin.post(kind.path, body | fields)

    assert field_errors(answer) == {(path, code)}
    assert count(kind.model, shop) == before


@pytest.mark.parametrize(("name", "fields", "path", "code"), BROKEN)
def test_operation_refuses(shop, name, fields, path, code):
    kind = KINDS[name]
    body, before = body_of(kind, shop), count(kind.model, shop)

    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        kind.create(body | fields)

    assert errors_of(refused) == [(path, code)]
    assert count(kind.model, shop) == before


@pytest.mark.parametrize(("name", "fields", "path", "code"), BROKEN)
def test_back_office_refuses(shop, owner, name, fields, path, code):
    kind = KINDS[name]
    body, before = body_of(kind, shop), count(kind.model, shop)

    answer = owner.fill(kind.page, **typed(body | fields))

    assert codes_of(answer.context["adminform"].form) == {(path.partition(".")[0], code)}
    assert count(kind.model, shop) == before


@pytest.mark.parametrize("name", KINDS)
def test_what_breaks_no_rule_is_created_by_each(shop, owner, name):
    kind = KINDS[name]
    body, before = body_of(kind, shop), count(kind.model, shop)

    answer = owner.fill(kind.page, **typed(body))

    assert answer.status_code == 302
    assert count(kind.model, shop) == before + 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"default_currency": "XXX"}, "unknown_currency"),
        ({"default_timezone": "Mars/Olympus"}, "unknown_time_zone"),
        ({"default_locale": "german"}, "invalid_locale"),
        ({"email_from": "nobody"}, "invalid"),
        ({"country_code": "XX"}, "unknown_country"),
    ],
)
def test_change_of_an_account_is_refused_by_each(shop, owner, changes, code):
    (field,) = changes
    with shop.scope():
        account = Account.objects.get(pk=shop.id)

    answer = shop.workspace.put(f"accounts/{shop.handle}.json", {"expected_version": 1} | changes)
    page = owner.fill(f"accounts/account/{shop.id}/change/", **changes)
    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        update_account(account_id=account.pk, expected_version=1, changes=changes, now=timezone.now())

    assert field_errors(answer) == {(field, code)} == set(errors_of(refused))
    assert codes_of(page.context["adminform"].form) == {(field, code)}
    with shop.scope():
        assert Account.objects.get(pk=shop.id).version == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"price_cents": 10**11 + 1}, "max_value"), ({"currency": "XXX"}, "unknown_currency")],
)
def test_price_is_refused_by_each(shop, owner, fields, code):
    variant = factories.make_variant(shop, price_cents=1990)
    (field,) = fields
    price = {"market_id": shop.market.pk, "price_cents": 1} | fields

    answer = shop.admin.put(
        f"variants/{variant.pk}/pricing/{shop.market.pk}.json", {"price_cents": 1} | fields
    )
    page = owner.fill(
        f"catalog/variant/{variant.pk}/change/", **{f"pricing__0__{field}": typed(fields)[field]}
    )

    assert field_errors(answer) == {(field, code)}
    assert codes_of(page.context["inline_admin_formsets"][0].formset.forms[0]) == {(field, code)}
    for write in (set_pricing, add_pricing):
        with shop.scope(), pytest.raises(ValidationFailed) as refused:
            write(variant_id=variant.pk, fields=price)
        assert errors_of(refused) == [(field, code)]
    with shop.scope():
        assert VariantPricing.objects.get().price_cents == 1990


@pytest.mark.parametrize(
    ("fields", "code"), [({"currency": "XXX"}, "unknown_currency"), ({"min_quantity": -1}, "min_value")]
)
def test_rate_is_refused_by_each(shop, owner, fields, code):
    method = factories.make_method(shop)
    (field,) = fields
    rate = {"price_cents": 490, "currency": "EUR"} | fields

    answer = shop.admin.post(f"shipping/methods/{method.pk}/rates.json", rate)
    row = {f"rates__0__{name}": value for name, value in typed(rate).items()}
    page = owner.fill(f"shipping/shippingmethod/{method.pk}/change/", rates__TOTAL_FORMS=1, **row)
    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        create_rate(method_id=method.pk, fields=rate, now=timezone.now())

    assert field_errors(answer) == {(field, code)} == set(errors_of(refused))
    assert codes_of(page.context["inline_admin_formsets"][0].formset.forms[0]) == {(field, code)}
    assert count(ShippingRate, shop) == 0


def test_adjustment_by_nothing_is_refused_by_each(shop, owner):
    level = factories.set_stock(shop, factories.make_variant(shop, stock=None), 5)
    adjustment = {
        "variant_id": level.variant_id,
        "location_id": level.location_id,
        "delta": 0,
        "reason": "count",
    }

    answer = shop.admin.post("inventory_levels/adjust.json", adjustment)
    page = owner.confirm(f"inventory/inventorylevel/{level.pk}/adjust/", delta=0, reason="count")
    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        adjust_level(**adjustment, now=timezone.now())

    assert field_errors(answer) == {("delta", "zero")} == set(errors_of(refused))
    assert codes_of(page.context["form"]) == {("delta", "zero")}
    with shop.scope():
        assert InventoryAdjustment.objects.get().delta == 5


@pytest.mark.parametrize(
    ("fields", "dialog", "path", "code"),
    [
        (
            {"expires_at": "2020-01-01T00:00:00Z"},
            {"expires_at_0": "2020-01-01", "expires_at_1": "00:00"},
            "expires_at",
            "in_the_past",
        ),
        ({"currency": "XXX"}, {"currency": "XXX"}, "currency", "unknown_currency"),
        ({"send_email": True}, {"send_email": "on"}, "recipient_email", "required"),
    ],
)
def test_gift_card_is_refused_by_each(shop, owner, fields, dialog, path, code):
    card = {"initial_balance_cents": 5000, "currency": "EUR"}

    answer = shop.admin.post("vouchers.json", card | fields)
    page = owner.confirm("discounts/voucher/issue/", **typed(card) | dialog)

    assert field_errors(answer) == {(path, code)}
    assert codes_of(page.context["form"]) == {(path, code)}
    assert count(Voucher, shop) == 0


def test_address_of_a_parcel_is_refused_by_each(shop, owner):
    checkout = checkout_in("completed", shop, (factories.make_variant(shop), 1))
    with shop.scope():
        order = Order.objects.get(pk=checkout["order_id"])

    answer = shop.admin.post(f"orders/{order.pk}/fulfill.json", {"tracking_url": "ftp://a.example/1"})
    page = owner.confirm(f"orders/order/{order.pk}/fulfill/", tracking_url="ftp://a.example/1")
    with shop.scope(), pytest.raises(ValidationFailed) as refused:
        fulfill_order(order_id=order.pk, tracking_url="ftp://a.example/1", now=timezone.now())

    assert field_errors(answer) == {("tracking_url", "invalid_url")} == set(errors_of(refused))
    assert codes_of(page.context["form"]) == {("tracking_url", "invalid_url")}
    with shop.scope():
        assert Order.objects.get().fulfillment_status == "unfulfilled"


def test_operations_refuse_changes_by_the_same_rules(shop):
    """The operations that the pages and REST call to change a row."""
    variant, discount = factories.make_variant(shop), factories.make_discount(shop)
    customer, now = factories.make_customer(shop), timezone.now()
    voucher = factories.make_voucher(shop)
    market = shop.market.pk
    user = make_user()
    with shop.scope():
        member = add_member(account_id=shop.id, user_id=user.pk, role="manager")
    inviting = {"grantor": UNLIMITED, "now": now}
    writes = [
        (
            lambda: update_product(product_id=variant.product_id, changes={"handle": "A"}, now=now),
            ("handle", "invalid_handle"),
        ),
        (lambda: update_variant(variant_id=variant.pk, changes={"sku": " "}, now=now), ("sku", "blank")),
        (
            lambda: add_variant(
                product_id=variant.product_id,
                fields={"sku": "B", "pricing": [{"market_id": market, "price_cents": 1}] * 2},
            ),
            ("pricing", "duplicate"),
        ),
        (
            lambda: update_discount(discount_id=discount.pk, changes={"status": "archived"}),
            ("status", "invalid_choice"),
        ),
        (
            lambda: change_preferences(customer_id=customer.pk, preferences={"no.such": False}),
            ("notification_preferences.no.such", "unknown_template"),
        ),
        (
            lambda: change_preferences(customer_id=customer.pk, preferences={"order.confirmation": "no"}),
            ("notification_preferences.order.confirmation", "invalid"),
        ),
        (lambda: invite_member(email="ann smith", role="manager", **inviting), ("email", "invalid")),
        (lambda: invite_member(email="ann@example.com", role="boss", **inviting), ("role", "unknown_role")),
        (lambda: add_member(account_id=shop.id, user_id=user.pk, role="boss"), ("role", "unknown_role")),
        (
            lambda: change_role(grantor=UNLIMITED, membership_id=member.pk, role="boss"),
            ("role", "unknown_role"),
        ),
        (
            lambda: issue_voucher(initial_balance_cents=0, currency="EUR", actor="test", now=now),
            ("initial_balance_cents", "min_value"),
        ),
        (lambda: revoke_voucher(voucher_id=voucher.pk, reason="x" * 1001, now=now), ("reason", "max_length")),
    ]
    for write, error in writes:
        with shop.scope(), pytest.raises(ValidationFailed) as refused:
            write()
        assert errors_of(refused) == [error]
    with shop.scope():
        assert Variant.objects.get().sku == variant.sku
        assert Discount.objects.get().status == "active"
        assert Voucher.objects.get().status == "active"
        assert StaffMembership.objects.get(user=user).role == "manager"
        assert not StaffInvitation.objects.exists()
