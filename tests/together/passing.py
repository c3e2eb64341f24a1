"""What time does to several shops: sessions, leases, claims and gift cards end, sweeps come and workers run."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition

from checkouts.models import Checkout
from checkouts.phases import FINAL_PHASES
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from commerce.rest.models import IdempotencyRecord
from commerce.webhooks.models import WebhookEndpoint
from discounts.models import Voucher
from discounts.tasks import sweep_vouchers
from tests.checkouts.books import assert_nothing_is_held
from tests.together.catalogue import Catalogue
from tests.together.fair import INDEXES, STALLS, act
from tests.together.shoppers import ARRIVAL, Shoppers
from tests.together.staff import Staff
from tests.together.stalls import Stall, any_of

# Before the database's now(), which is the beginning of the test's transaction, so that a search may take half an hour;
# and no longer ago than what `reconcile` takes for a sweeper that is merely behind.
LONG_AGO = timedelta(minutes=30)
ARRIVALS = st.fixed_dictionaries(ARRIVAL)


class Market(Shoppers, Catalogue, Staff):
    """The whole machine."""

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

    @act(stall=STALLS, index=INDEXES)
    def let_gift_card_expire(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        with shop.shop.scope():
            cards = Voucher.objects.filter(pk=any_of(shop.card_ids, index))
            cards.update(expires_at=timezone.now() - LONG_AGO)

    @act()
    def let_leases_end(self) -> None:
        """So that what a dead process held is free, and what failed is due again."""
        self._let_leases_end()

    @act()
    def sweep(self) -> None:
        self._touch_all()
        self.work(lambda: sweep_overdue_checkouts(now=timezone.now()))

    @act()
    def sweep_gift_cards(self) -> None:
        self._touch_all()
        self.work(sweep_vouchers)

    @act()
    def run_outbox(self) -> None:
        self._touch_all()
        self.work(run_due)

    @precondition(lambda self: sum(len(stall.checkouts) for stall in self.stalls) > 4)
    @act(number=st.just(1))
    def all_go_home(self, number: int) -> None:
        self.everybody_leaves()

    def everybody_leaves(self) -> None:
        """Nothing is held by anybody then, and each shop's work was done, whatever became of another's."""
        self.mortality.dies_at = None
        for stall in self.stalls:
            self._end_sessions(stall)
        for _ in range(3):
            self._let_leases_end()
            self.work(lambda: sweep_overdue_checkouts(now=timezone.now()))
            self.work(run_due)
        for stall in self.stalls:
            assert_nothing_is_held(stall.shop)
        self._touch_all()
        self.books_agree()

    def _touch_all(self) -> None:
        self.touched = list(self.stalls)

    def _end_sessions(self, stall: Stall, **which: str) -> None:
        with stall.shop.scope():
            open_ones = Checkout.objects.filter(**which).exclude(phase__in=FINAL_PHASES)
            open_ones.update(expires_at=timezone.now() - LONG_AGO)

    def _let_leases_end(self) -> None:
        past = timezone.now() - LONG_AGO
        for stall in self.stalls:
            with stall.shop.scope():
                OutboxDispatch.objects.filter(status="processing").update(locked_until=past)
                OutboxDispatch.objects.filter(status="pending").update(due_at=past)
                IdempotencyRecord.objects.filter(status=0).update(created_at=past)
                Checkout.objects.filter(sweep_after__isnull=False).update(sweep_after=past)
                WebhookEndpoint.objects.update(rests_until=None)
