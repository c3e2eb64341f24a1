"""A gift card through any sequence of operations, compared with a model, on the real database."""

from collections import Counter
from datetime import timedelta
from itertools import accumulate

from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commerce.errors import Refusal
from discounts.vouchers import holds as holding
from discounts.vouchers import operations
from discounts.vouchers.statuses import effective_status
from discounts.vouchers.sweeping import expire_vouchers
from tests.discounts.vouchers import cards

INITIAL = 100
CENTS = st.integers(1, 120)
CHECKOUTS = st.sampled_from([1, 2, 3])
ORDERS = st.sampled_from([0, 1])


class LifeOfAVoucher(RuleBasedStateMachine):
    """`balance`, `held`, `taken` (by order), `status` and `now` are the model; `_ask` runs the real operation."""

    def __init__(self, shop, orders):
        super().__init__()
        self.shop, self.orders = shop, orders
        self.now = timezone.now()
        self.ends_at = self.now + timedelta(days=3)
        self.voucher = cards.make_voucher(shop, balance=INITIAL, expires_at=self.ends_at, now=self.now)
        self.balance, self.held, self.taken = INITIAL, {}, Counter()
        self.status = "active"

    @property
    def shown(self):
        return "expired" if self.status == "active" and self.ends_at <= self.now else self.status

    @property
    def available(self):
        return self.balance - sum(self.held.values())

    def _ask(self, act, **arguments):
        """Run an operation; return the code of its refusal, or None."""
        try:
            with self.shop.scope():
                act(**arguments)
        except Refusal as refusal:
            return refusal.code
        return None

    def _take(self, cents):
        self.balance -= cents
        if self.balance == 0 and self.shown == "active":
            self.status = "depleted"

    @rule(cents=CENTS, order=ORDERS | st.none())
    def redeem(self, cents, order):
        refused = self._ask(
            operations.redeem_voucher,
            code=self.voucher.code,
            amount_cents=cents,
            order_id=None if order is None else self.orders[order].pk,
            actor="test",
            now=self.now,
        )
        if self.shown != "active":
            assert refused == "voucher_not_active"
        elif cents > self.available:
            assert refused == "insufficient_balance"
        else:
            assert refused is None
            self._take(cents)
            self.taken[order] += cents

    @rule(cents=CENTS, checkout=CHECKOUTS)
    def hold(self, cents, checkout):
        if checkout in self.held:
            return
        amounts = {self.voucher.pk: cents}
        refused = self._ask(holding.hold_vouchers, checkout_id=checkout, amounts=amounts, now=self.now)
        if self.shown != "active":
            assert refused == "voucher_not_active"
        elif cents > self.available:
            assert refused == "insufficient_balance_held"
        else:
            assert refused is None
            self.held[checkout] = cents

    @rule(checkouts=st.lists(CHECKOUTS, min_size=1))
    def release(self, checkouts):
        assert self._ask(holding.release_holds, checkout_ids=checkouts) is None
        for checkout in checkouts:
            self.held.pop(checkout, None)

    @rule(checkout=CHECKOUTS, order=ORDERS)
    def capture(self, checkout, order):
        refused = self._ask(
            holding.capture_holds,
            checkout_id=checkout,
            order_id=self.orders[order].pk,
            actor="test",
            now=self.now,
        )
        assert refused is None
        cents = self.held.pop(checkout, 0)
        if cents:
            self._take(cents)
            self.taken[order] += cents

    @rule(order=ORDERS)
    def reverse(self, order):
        order_id = self.orders[order].pk
        refused = self._ask(holding.reverse_redemptions, order_id=order_id, actor="test", now=self.now)
        assert refused is None
        returned = self.taken.pop(order, 0)
        self.balance += returned
        if returned and self.status == "depleted":
            self.status = "active"

    @rule(days=st.integers(1, 2))
    @precondition(lambda self: self.now < self.ends_at)
    def pass_time(self, days):
        self.now += timedelta(days=days)

    @rule()
    def sweep(self):
        assert self._ask(expire_vouchers, voucher_ids=[self.voucher.pk], now=self.now) is None
        self.status = self.shown

    @rule()
    def disable(self):
        assert self._ask(operations.disable_voucher, voucher_id=self.voucher.pk, now=self.now) is None
        if self.status != "revoked":
            self.status = "disabled"

    @rule()
    def revoke(self):
        refused = self._ask(
            operations.revoke_voucher, voucher_id=self.voucher.pk, reason="Fraud", now=self.now
        )
        assert refused is None
        self.status = "revoked"

    @invariant()
    def is_as_the_model_says(self):
        with self.shop.scope():
            balance, held_cents, _ = cards.state(self.shop, self.voucher)
            holds, entries = cards.holds(self.shop, self.voucher), cards.ledger(self.shop, self.voucher)
        assert (balance, held_cents) == (self.balance, sum(self.held.values()))
        assert effective_status(self.voucher, self.now) == self.shown
        assert holds == self.held
        assert [after for *_, after in entries] == list(accumulate(cents for _, cents, _ in entries))
        assert entries[-1][-1] == self.balance


def test_voucher_keeps_to_its_model_through_any_life(shop):
    orders = [cards.make_order(shop) for _ in range(2)]

    run_state_machine_as_test(
        lambda: LifeOfAVoucher(shop, orders),
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.function_scoped_fixture],
        ),
    )
