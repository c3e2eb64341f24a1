"""Time passes: checkouts, leases, claims and gift cards expire, sweeps and workers run."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition

from carts.models import Cart
from checkouts.models import Checkout
from checkouts.phases import FINAL_PHASES
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import retry_dispatch
from commerce.outbox.worker import run_due
from commerce.rest.models import IdempotencyRecord
from commerce.rest.tasks import prune as prune_answers
from commerce.webhooks.models import WebhookEndpoint
from discounts.models import Voucher
from discounts.tasks import sweep_vouchers
from tests.checkouts.books import assert_all_is_sent, assert_nothing_is_held
from tests.together.backoffice import BackOffice
from tests.together.catalogue import Catalogue
from tests.together.fair import INDEXES, STALLS, act
from tests.together.mail import Mail
from tests.together.markets import Markets
from tests.together.shoppers import ARRIVAL, Shoppers
from tests.together.staff import Staff
from tests.together.stalls import Stall, any_of

# Before the database's now(), which is the beginning of the test's transaction, and no longer ago than what `reconcile`
# takes for a sweeper that is merely behind.
LONG_AGO = timedelta(minutes=30)
ARRIVALS = st.fixed_dictionaries(ARRIVAL)


class Market(Shoppers, Catalogue, Markets, Staff, BackOffice, Mail):
    """The complete state machine."""

    @initialize(
        modes=st.lists(st.booleans(), min_size=3, max_size=3),
        reserves_late=st.booleans(),
        shoppers=st.lists(ARRIVALS, min_size=3, max_size=6),
    )
    def open(self, modes: list[bool], reserves_late: bool, shoppers: list[dict[str, Any]]) -> None:
        self.open_stalls(modes, reserves_late)
        for shopper in shoppers:
            self.arrive(**shopper)

    @act(stall=STALLS, checkout=INDEXES)
    def let_checkout_expire(self, stall: int, checkout: int) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            self._end_sessions(shop, token=any_of(shop.checkouts, checkout))

    @act(stall=STALLS, index=INDEXES, step=st.sampled_from(["cancel", "fulfill"]))
    def buy_and_regret(self, stall: int, index: int, step: str) -> None:
        """Pay by card and cancel the order: the money is refunded unless the parcel was sent."""
        shop = self.stall(stall)
        self._buy(shop, index, steps=8)
        if order_ids := self._ids(shop, Order):
            self._manage(shop, "POST", f"orders/{order_ids[-1]}/{step}.json", {})
            self._manage(shop, "POST", f"orders/{order_ids[-1]}/cancel.json", {})
        self.touch_all()
        self.work(run_due)

    @act(stall=STALLS, index=INDEXES, choice=st.sampled_from(["succeed", "decline", None, None]))
    def leave_at_payment_page(self, stall: int, index: int, choice: str | None) -> None:
        """Let a checkout expire while its payment page is open; the page may still be used."""
        shop = self.stall(stall)
        if not self._buy(shop, index, steps=4):
            return
        self._end_sessions(shop, token=shop.checkouts[-1])
        self.touch_all()
        self.work(lambda: sweep_overdue_checkouts(now=timezone.now()))
        if choice:
            self._choose_on_page(shop, shop.checkouts[-1], choice)
        self.work(run_due)

    buy_and_regret_too = buy_and_regret
    buy_and_regret_at_last = buy_and_regret
    leave_at_payment_page_too = leave_at_payment_page
    leave_at_payment_page_at_last = leave_at_payment_page

    @act(stall=STALLS, cart=INDEXES)
    def let_cart_expire(self, stall: int, cart: int) -> None:
        shop = self.stall(stall)
        if shop.carts:
            with shop.shop.scope():
                carts = Cart.objects.filter(token=any_of(shop.carts, cart))
                carts.update(expires_at=self._long_ago())

    @act(stall=STALLS)
    def forget_answers(self, stall: int) -> None:
        """Delete stored answers, as happens after a day."""
        shop = self.stall(stall)
        self.touch_all()
        with shop.shop.scope():
            IdempotencyRecord.objects.update(created_at=self._long_ago() - timedelta(days=2))
        self.work(prune_answers)

    @act(stall=STALLS, index=INDEXES)
    def let_gift_card_expire(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        with shop.shop.scope():
            cards = Voucher.objects.filter(pk=any_of(shop.card_ids, index))
            cards.update(expires_at=self._long_ago())

    @act()
    def let_leases_end(self) -> None:
        """Let leases end, so that rows held by dead processes are free and failed work is due again."""
        self.touch_all()
        self._let_leases_end()

    @act()
    def sweep(self) -> None:
        self.touch_all()
        self.work(lambda: sweep_overdue_checkouts(now=timezone.now()))

    @act()
    def sweep_gift_cards(self) -> None:
        self.touch_all()
        self.work(sweep_vouchers)

    @act()
    def run_outbox(self) -> None:
        self.touch_all()
        self.work(run_due)

    @precondition(lambda self: sum(len(stall.checkouts) for stall in self.stalls) > 4)
    @act(number=st.just(1))
    def all_go_home(self, number: int) -> None:
        self.everybody_leaves()

    def everybody_leaves(self) -> None:
        """Finish everything: nothing is held any more, and each shop's work is done, whatever happened to another's."""
        self.mortality.disarm()
        self.mend_renderer()
        self.touch_all()
        for stall in self.stalls:
            self._end_sessions(stall)
            self._retry_dead(stall)
        for _ in range(3):
            self._let_leases_end()
            self.work(lambda: sweep_overdue_checkouts(now=timezone.now()))
            self.work(run_due)
        for stall in self.stalls:
            assert_nothing_is_held(stall.shop)
            assert_all_is_sent(stall.shop)
        self.books_agree()

    def _buy(self, shop: Stall, index: int, *, steps: int) -> bool:
        """Take some steps of a purchase by card; return whether there is a checkout."""
        token = self._take_cart(shop, any_of(shop.market_ids, 0))
        if token is None:
            return False
        self._add_line(shop, token, index, 1)
        if not self._enter(shop, token, "ada@example.com"):
            return False
        self._go_on(shop, shop.checkouts[-1], steps, "test_card", "succeed")
        return True

    def _retry_dead(self, stall: Stall) -> None:
        """Retry emails that failed while the renderer was broken."""
        for dispatch_id in self._ids(stall, OutboxDispatch, status="dead"):
            with stall.shop.scope():
                retry_dispatch(dispatch_id=dispatch_id, now=timezone.now())

    def _long_ago(self) -> datetime:
        with connection.cursor() as cursor:
            cursor.execute("SELECT now()")
            began: datetime = cursor.fetchone()[0]
        return began - LONG_AGO

    def _end_sessions(self, stall: Stall, **which: str) -> None:
        with stall.shop.scope():
            open_ones = Checkout.objects.filter(**which).exclude(phase__in=FINAL_PHASES)
            open_ones.update(expires_at=self._long_ago())

    def _let_leases_end(self) -> None:
        past = self._long_ago()
        for stall in self.stalls:
            with stall.shop.scope():
                OutboxDispatch.objects.filter(status="processing").update(locked_until=past)
                OutboxDispatch.objects.filter(status="pending").update(due_at=past)
                IdempotencyRecord.objects.filter(status=0).update(created_at=past)
                Checkout.objects.filter(sweep_after__isnull=False).update(sweep_after=past)
                WebhookEndpoint.objects.update(rests_until=None)
