"""Helpers to create and read gift cards."""

from datetime import timedelta

from django.utils import timezone

from commerce.events.models import Event
from commerce.orders.models import Order
from discounts.models import Voucher, VoucherHold, VoucherPaymentAttempt, VoucherRedemption
from discounts.vouchers.operations import issue_voucher
from tests.factories import in_shop
from tests.rows import make_row

TOMORROW = timedelta(days=1)


@in_shop
def make_voucher(shop, *, balance=10_000, **fields):
    """Create a gift card of 100.00 EUR by default; `is_overdue` puts its expiry into the past."""
    is_overdue = fields.pop("is_overdue", False)
    fields = {"currency": "EUR", "actor": "test", "now": timezone.now()} | fields
    voucher = issue_voucher(initial_balance_cents=balance, **fields)
    if is_overdue:
        Voucher.objects.filter(pk=voucher.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
        voucher.refresh_from_db()
    return voucher


@in_shop
def make_order(shop, **fields):
    return make_row(Order, **{"currency": "EUR", "status": "open"} | fields)


@in_shop
def state(shop, voucher):
    """Return balance, held cents and stored status."""
    voucher.refresh_from_db()
    return voucher.balance_cents, voucher.held_cents, voucher.status


@in_shop
def ledger(shop, voucher):
    """Return kind, signed cents and balance of each entry."""
    rows = VoucherRedemption.objects.filter(voucher=voucher).order_by("pk")
    return list(rows.values_list("kind", "amount_cents", "balance_after_cents"))


@in_shop
def holds(shop, voucher):
    """Return held cents by checkout."""
    return dict(VoucherHold.objects.filter(voucher=voucher).values_list("checkout_id", "amount_cents"))


@in_shop
def attempts(shop, voucher):
    rows = VoucherPaymentAttempt.objects.filter(voucher=voucher).order_by("pk")
    return list(rows.values_list("status", "failure_code", "amount_cents"))


@in_shop
def event_types(shop):
    """Return the types of the gift card events, oldest first."""
    return list(
        Event.objects.filter(type__startswith="voucher.").order_by("pk").values_list("type", flat=True)
    )
