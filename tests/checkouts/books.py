"""Invariants of a shop's books after any step, derived from its checkouts and orders alone."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from checkouts.models import Checkout, CheckoutLineItem, CheckoutPaymentAttempt
from checkouts.phases import FINAL_PHASES, Phase
from checkouts.reconciliation import find_differences
from commerce.customers.models import normalise_email
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order, OrderLineItem
from commerce.orders.snapshots import AppliedCode, AutomaticDiscount
from commerce.outbox.models import OutboxDispatch
from commerce.payments.models import FakeCardPayment
from discounts.models import Discount, DiscountHold, Voucher, VoucherHold, VoucherRedemption
from emails.models import EmailDelivery
from tests.shops import Shop

Session = Checkout | Order


@dataclass
class Opening:
    """What checkouts and orders don't show: the units that the shop began with or received, by variant.

    `relimited` are discounts whose limits were changed while they were used. `retracked` are variants for which
    counting of the stock was switched on or off.
    """

    units: Counter[int]
    retracked: set[int] = field(default_factory=set)
    relimited: set[int] = field(default_factory=set)
    is_redacted: bool = False


def assert_books_agree(shop: Shop, opening: Opening) -> None:
    """Assert every invariant that holds at any time, even while shoppers are buying."""
    with shop.scope():
        found = list(find_differences())
        assert not found, found
        books = Books(opening)
        books.assert_orders()
        books.assert_totals()
        books.assert_stock()
        books.assert_gift_cards()
        books.assert_discounts()
        books.assert_money()


def assert_nothing_is_held(shop: Shop) -> None:
    """Assert that nothing is held once no checkout is open."""
    with shop.scope():
        assert not Checkout.objects.exclude(phase__in=FINAL_PHASES).exists()
        assert not InventoryLevel.objects.exclude(reserved=0).exists()
        assert not VoucherHold.objects.exists()
        assert not DiscountHold.objects.exists()
        assert not FakeCardPayment.objects.filter(status="open").exists()
        charged = FakeCardPayment.objects.filter(status="succeeded").values_list("token", flat=True)
        sold = Order.objects.exclude(status="cancelled").values_list("checkout_id", flat=True)
        attempts = CheckoutPaymentAttempt.objects.filter(provider_reference__in=list(charged))
        assert {attempt.checkout_id for attempt in attempts} <= set(sold)


def assert_all_is_sent(shop: Shop) -> None:
    """Assert what holds after the outbox has run: refunds are made, and each order has at most one confirmation."""
    with shop.scope():
        waiting = OutboxDispatch.objects.exclude(status__in=("succeeded", "skipped", "cancelled"))
        stopped = waiting.exclude(target__task_name__in=("deliver_webhook", "ping_webhook"))
        assert not list(stopped.values_list("target__task_name", "status", "last_error"))
        for order in Order.objects.order_by("pk"):
            dispatch = OutboxDispatch.objects.get(idempotency_key=f"order.confirmation/{order.token}")
            told = EmailDelivery.objects.filter(
                template_key="order.confirmation", key_space="product", reference_type="order"
            )
            sent = told.filter(reference_id=order.pk).count()
            assert sent == (dispatch.status == "succeeded")


class Books:
    """The rows of the account in scope."""

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self.checkouts = {checkout.pk: checkout for checkout in Checkout.objects.order_by("pk")}
        self.orders = {order.checkout_id: order for order in Order.objects.order_by("pk")}
        self.lines = list(CheckoutLineItem.objects.order_by("pk"))
        self.order_lines = list(OrderLineItem.objects.order_by("pk"))

    def assert_orders(self) -> None:
        """Assert that each completed checkout has one order, whose confirmation was enqueued once."""
        completed = {pk for pk, checkout in self.checkouts.items() if checkout.phase == Phase.COMPLETED}
        assert completed == self.orders.keys()
        assert Order.objects.count() == len(self.orders)
        keys = sorted(f"order.confirmation/{order.token}" for order in self.orders.values())
        emails = OutboxDispatch.objects.filter(idempotency_key__in=keys)
        assert sorted(emails.values_list("idempotency_key", flat=True)) == keys

    def assert_totals(self) -> None:
        """Assert the totals of docs/pricing.md, and that an order's equal its checkout's."""
        for checkout in self.checkouts.values():
            lines = [line for line in self.lines if line.checkout_id == checkout.pk]
            _assert_identities(checkout, lines)
        for order in self.orders.values():
            _assert_identities(order, [line for line in self.order_lines if line.order_id == order.pk])
            assert order.total_cents == self.checkouts[order.checkout_id].total_cents

    def assert_stock(self) -> None:
        reserving = [c.pk for c in self.checkouts.values() if _is_open(c) and c.is_stock_reserved]
        placed = [o for o in self.orders.values() if o.status != "cancelled"]
        sent = [o.checkout_id for o in placed if o.fulfillment_status == "fulfilled"]
        waiting = [o.checkout_id for o in placed if o.fulfillment_status != "fulfilled"]
        reserved, committed, gone = map(self._units_of, (reserving, waiting, sent))
        counted: dict[str, Counter[int]] = {name: Counter() for name in ("on_hand", "reserved", "committed")}
        for level in InventoryLevel.objects.all():
            is_retracked = level.variant_id in self.opening.retracked
            assert is_retracked or level.reserved + level.committed <= level.on_hand
            for name, units in counted.items():
                units[level.variant_id] += getattr(level, name)
        for variant_id in self.opening.units.keys() - self.opening.retracked:
            units = self.opening.units[variant_id]
            found = tuple(counted[name][variant_id] for name in counted)
            assert found == (units - gone[variant_id], reserved[variant_id], committed[variant_id])

    def assert_gift_cards(self) -> None:
        """Assert that gift cards are held by checkouts in payment, and charged by orders neither cancelled nor refunded."""
        kept = [order for order in self._standing() if order.payment_status != "refunded"]
        held, taken = _card_cents(self._paying()), _card_cents(kept)
        at_the_till: Counter[int] = Counter()
        for entry in VoucherRedemption.objects.filter(kind="redeem", checkout_id=None):
            at_the_till[entry.voucher_id] -= entry.amount_cents
        for card in Voucher.objects.all():
            spent_cents = taken[card.pk] + at_the_till[card.pk]
            assert card.balance_cents == card.initial_balance_cents - spent_cents
            assert card.held_cents == held[card.pk]
            assert 0 <= card.held_cents <= card.balance_cents

    def assert_discounts(self) -> None:
        """Assert that discounts are used by checkouts in payment and live orders only, within their limits."""
        using = [*self._paying(), *self._standing()]
        uses = Counter(chain.from_iterable(map(_used_discounts, using)))
        by_shopper = Counter((normalise_email(s.email), used) for s in using for used in _used_discounts(s))
        for discount in Discount.objects.all():
            assert discount.usage_count == uses[discount.pk]
            if discount.pk in self.opening.relimited:
                continue
            assert uses[discount.pk] <= (discount.usage_limit_total or uses[discount.pk])
            for (_, used), number in by_shopper.items():
                is_within = number <= (discount.usage_limit_per_customer or number)
                assert used != discount.pk or is_within or self.opening.is_redacted

    def assert_money(self) -> None:
        """Assert that money charged and not refunded is an order's, or is about to become one's or be refunded."""
        attempts = {attempt.gateway_key: attempt for attempt in CheckoutPaymentAttempt.objects.all()}
        for payment in FakeCardPayment.objects.all():
            asked = attempts[payment.key]
            assert (payment.amount_cents, payment.currency) == (asked.amount_cents, asked.currency)
        payments = FakeCardPayment.objects.filter(status="succeeded").values_list("key", flat=True)
        waiting = OutboxDispatch.objects.filter(finished_at=None)
        tasks = {(d.target["task_name"], d.payload.get("attempt_id")) for d in waiting}
        for attempt in (attempts[key] for key in payments):
            checkout, order = self.checkouts[attempt.checkout_id], self.orders.get(attempt.checkout_id)
            if attempt.is_open:
                assert checkout.phase == Phase.PROCESSING or ("cancel_payment", attempt.pk) in tasks
            elif attempt.status == "succeeded" and (order is None or order.status != "cancelled"):
                assert checkout.ready_to_complete
            else:
                assert ("refund_payment", attempt.pk) in tasks

    def _units_of(self, checkout_ids: Iterable[int]) -> Counter[int]:
        units: Counter[int] = Counter()
        for line in self.lines:
            if line.checkout_id in checkout_ids:
                units[line.variant_id] += line.quantity
        return units

    def _paying(self) -> list[Checkout]:
        return [checkout for checkout in self.checkouts.values() if checkout.phase == Phase.PROCESSING]

    def _standing(self) -> list[Order]:
        return [order for order in self.orders.values() if order.status != "cancelled"]


def _assert_identities(session: Session, lines: list[Any]) -> None:
    charged = -session.discount_cents + session.shipping_cents + session.cod_fee_cents
    if session.prices_include_tax:
        assert session.total_cents == session.subtotal_with_tax_cents + charged
    else:
        assert session.total_cents == session.subtotal_without_tax_cents + charged + session.tax_cents
    assert session.subtotal_with_tax_cents == sum(line.line_total_with_tax_cents for line in lines)
    assert session.subtotal_without_tax_cents == sum(line.line_total_without_tax_cents for line in lines)
    assert session.discount_cents == sum(line.discount_cents for line in lines)
    named_cents = sum(applied.amount_cents for applied in _discounts_of(session))
    assert session.discount_cents + session.shipping_discount_cents == named_cents
    assert session.gift_card_cents == _card_cents([session]).total()
    assert session.amount_due_cents == session.total_cents - session.gift_card_cents >= 0


def _discounts_of(session: Session) -> Iterator[AppliedCode | AutomaticDiscount]:
    yield from (applied for applied in session.discount_codes if applied.discount_id)
    yield from session.automatic_discounts


def _used_discounts(session: Session) -> list[int]:
    return [applied.discount_id for applied in _discounts_of(session) if applied.amount_cents]


def _card_cents(sessions: Iterable[Session]) -> Counter[int]:
    """Return cents by gift card."""
    cents: Counter[int] = Counter()
    for applied in chain.from_iterable(session.discount_codes for session in sessions):
        if applied.voucher_id:
            cents[applied.voucher_id] += applied.amount_cents
    return cents


def _is_open(checkout: Checkout) -> bool:
    return checkout.phase not in FINAL_PHASES
