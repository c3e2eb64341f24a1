"""A shop full of shoppers who do anything in any order: whatever they do, its books agree after every step.

A search of minutes, by hand: pytest --hypothesis-profile=long --timeout=0 tests/checkouts/test_state_machine.py
"""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from checkouts.models import Checkout, CheckoutPaymentAttempt
from checkouts.phases import ALLOWED_PHASES, FINAL_PHASES
from checkouts.sweeping import sweep_overdue_checkouts
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from tests import factories
from tests.checkouts.books import Opening, assert_books_agree, assert_nothing_is_held
from tests.shops import make_shop
from tests.storefront import ADDRESS

STOCK = 3
EMAILS = st.sampled_from(["ada@example.com", "Ada@Example.com", "bob@example.com"])
INDEXES = st.integers(0, 7)
QUANTITIES = st.integers(1, 2)
STEPS = st.integers(0, 8)
METHODS = st.sampled_from(["cod", "bank_transfer", "test_card"])
CHOICES = st.sampled_from(["succeed", "decline", "abandon", "unknown"])
URLS = {"return_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"}
# The next step of a checkout in each phase; from `failed` another try to pay.
NEXT = {
    "pending": "address",
    "address": "shipping",
    "shipping": "payment_method",
    "payment": "start_payment",
    "failed": "payment_method",
}


class LifeOfAShop(RuleBasedStateMachine):
    """Carts, checkouts and orders are named by their place in a list."""

    @initialize(
        includes_tax=st.booleans(),
        reserve_at=st.sampled_from(["checkout_enter", "payment_start"]),
        shoppers=st.lists(
            st.tuples(INDEXES, QUANTITIES, EMAILS, INDEXES, STEPS, METHODS), min_size=2, max_size=3
        ),
    )
    def open_shop(self, includes_tax, reserve_at, shoppers):
        self.shop = make_shop(prices_include_tax=includes_tax)
        changed = {"commerce.payments.test_card": True, "commerce.checkout.reserve_at": reserve_at}
        self.shop.admin.put("settings.json", {"settings": changed})
        factories.make_tax_rate(self.shop)
        self.variants = [
            factories.make_variant(self.shop, price_cents=cents, stock=STOCK) for cents in (999, 1750)
        ]
        method = factories.make_method(self.shop, cod_fee_cents=150)
        self.rate = factories.make_rate(self.shop, method=method)
        self.cards = [factories.make_voucher(self.shop, cents) for cents in (800, 6000)]
        self.codes = [*self._discounts(), *(card.code for card in self.cards)]
        self.opening = Opening(
            units={variant.pk: STOCK for variant in self.variants},
            card_cents={card.pk: card.balance_cents for card in self.cards},
        )
        self.carts, self.checkouts = [], []
        for shopper in shoppers:
            self.arrive(*shopper)

    def _discounts(self):
        factories.make_discount(self.shop, stackable=True, usage_limit_total=4)
        limited = ({"usage_limit_total": 2}, {"usage_limit_per_customer": 1})
        codes = [
            factories.make_discount(self.shop, code=f"C{n}", stackable=True, **limit).code
            for n, limit in enumerate(limited)
        ]
        free = {"type": "shipping_discount", "applies_to": "shipping", "value_mode": "free"}
        fields = {"value_amount": None, "stackable": True, "code": "FREE", "usage_limit_total": 2}
        return [*codes, factories.make_discount(self.shop, **free, **fields).code]

    @rule(index=INDEXES, quantity=QUANTITIES, email=EMAILS, code=INDEXES, steps=STEPS, method=METHODS)
    def arrive(self, index, quantity, email, code, steps, method):
        """A new cart with a line, its checkout with a code, and some steps of it."""
        answer = self._storefront("POST", "carts.json", {"market_id": self.shop.market.pk})
        self.carts.append(answer.json()["cart"]["token"])
        self.add_line(-1, index, quantity)
        if self._enter_checkout(self.carts[-1], email):
            self.enter_code(-1, code)
            self.go_on(-1, steps, method, "succeed")

    @rule(cart=INDEXES, index=INDEXES, quantity=QUANTITIES)
    def add_line(self, cart, index, quantity):
        line = {"variant_id": _any(self.variants, index).pk, "quantity": quantity}
        self._storefront("POST", f"carts/{_any(self.carts, cart)}/lines.json", line)

    @rule(cart=INDEXES, index=INDEXES, quantity=st.integers(0, STOCK))
    def change_line(self, cart, index, quantity):
        path = f"carts/{_any(self.carts, cart)}"
        lines = self.shop.storefront.get(f"{path}.json").json()["cart"]["line_items"]
        if lines:
            path = f"{path}/lines/{_any(lines, index)['id']}.json"
            self._storefront("PATCH", path, {"quantity": quantity})

    @rule(cart=INDEXES, email=EMAILS)
    def enter_checkout(self, cart, email):
        """Also from a cart that has a checkout, which this one replaces."""
        self._enter_checkout(_any(self.carts, cart), email)

    @rule(checkout=INDEXES, steps=STEPS, method=METHODS, choice=CHOICES)
    def go_on(self, checkout, steps, method, choice):
        """The next steps with good data, as most shoppers take them."""
        token = _any(self.checkouts, checkout)
        for _ in range(steps):
            shown = self._shown(token)
            if shown["phase"] in FINAL_PHASES:
                break
            if shown["phase"] == "processing":
                self._choose_on_page(token, choice)
            last = "complete" if shown["ready_to_complete"] else "confirm"
            self._send(token, NEXT.get(shown["phase"], last), method=method)

    @rule(
        checkout=INDEXES, operation=st.sampled_from([*NEXT.values(), "confirm", "complete"]), method=METHODS
    )
    def take_any_step(self, checkout, operation, method):
        self._send(_any(self.checkouts, checkout), operation, method=method)

    @rule(checkout=INDEXES, email=EMAILS)
    def give_email(self, checkout, email):
        self._send(_any(self.checkouts, checkout), "address", email=email)

    @rule(checkout=INDEXES, index=INDEXES)
    def enter_code(self, checkout, index):
        self._act(_any(self.checkouts, checkout), "discount", "POST", {"code": _any(self.codes, index)})

    @rule(checkout=INDEXES, index=INDEXES)
    def remove_code(self, checkout, index):
        path = f"discount/{_any(self.codes, index)}"
        self._act(_any(self.checkouts, checkout), "discount", "DELETE", path=path)

    @rule(checkout=INDEXES)
    def clear_vat_number(self, checkout):
        self._act(_any(self.checkouts, checkout), "vat", "PUT", {"vat_number": ""})

    @rule(checkout=INDEXES)
    def cancel_payment(self, checkout):
        self._act(_any(self.checkouts, checkout), "confirm", "POST", {"callback_payload": {"cancel": True}})

    @rule(checkout=INDEXES, choice=CHOICES)
    def choose_on_page(self, checkout, choice):
        """Also on a page of before, or one that is closed."""
        self._choose_on_page(_any(self.checkouts, checkout), choice)

    @rule(index=INDEXES, step=st.sampled_from(["cancel", "mark_paid", "fulfill"]))
    def take_step_of_order(self, index, step):
        with self.shop.scope():
            order_ids = list(Order.objects.order_by("pk").values_list("pk", flat=True))
        if order_ids:
            answer = self.shop.admin.post(f"orders/{_any(order_ids, index)}/{step}.json", {})
            assert answer.status_code in (200, 409)

    @rule(index=INDEXES, cents=st.integers(1, 900))
    def redeem_gift_card_elsewhere(self, index, cents):
        card = _any(self.cards, index)
        body = {"code": card.code, "amount_cents": str(cents)}
        answer = self.shop.admin.post("vouchers/redeem.json", body)
        assert answer.status_code in (200, 409, 422)
        if answer.status_code == 200:
            self.opening.redeemed_cents[card.pk] += cents

    @rule(checkout=INDEXES)
    def let_expire(self, checkout):
        self._let_expire(token=_any(self.checkouts, checkout))

    @rule()
    def sweep(self):
        sweep_overdue_checkouts(now=timezone.now())

    @rule()
    def run_dispatches(self):
        self._run_dispatches()

    @precondition(lambda self: len(self.checkouts) > 4)
    @rule()
    def everybody_leaves(self):
        self._let_expire()
        for _ in range(2):
            self.sweep()
            self._run_dispatches()
        self.sweep()
        self._run_dispatches()
        assert_nothing_is_held(self.shop)

    @invariant()
    def books_agree(self):
        assert_books_agree(self.shop, self.opening)

    def _enter_checkout(self, cart_token, email):
        """Whether there was enough in stock, and anything in the cart."""
        body = {"cart_token": cart_token, "email": email}
        answer = self._storefront("POST", "checkouts.json", body)
        if answer.status_code == 201:
            self.checkouts.append(answer.json()["checkout"]["token"])
        return answer.status_code == 201

    def _send(self, token, operation, *, method="cod", email=None):
        """With good data."""
        address = {"shipping_address": ADDRESS, "same_as_shipping": True}
        bodies = {
            "address": address | ({"email": email} if email else {}),
            "shipping": {"shipping_method_id": self.rate.method_id, "shipping_rate_id": self.rate.pk},
            "payment_method": {"payment_method": method},
            "start_payment": URLS,
            "confirm": {"callback_payload": {}},
            "complete": {},
        }
        verb = "PUT" if operation in ("address", "shipping", "payment_method") else "POST"
        headers = {"idempotency_key": f"complete-{token}"} if operation == "complete" else {}
        self._act(token, operation, verb, bodies[operation], **headers)

    def _act(self, token, operation, verb, body=None, *, path=None, **headers):
        """Where the phase forbids it, it is refused; and whatever is refused has changed nothing."""
        before = self._shown(token)
        answer = self._storefront(verb, f"checkouts/{token}/{path or operation}.json", body, **headers)
        is_replayed = "Idempotent-Replayed" in answer
        if before["phase"] not in ALLOWED_PHASES[operation] and not is_replayed:
            codes = {"invalid_phase", "checkout_expired", "checkout_already_completed"}
            assert (answer.status_code, answer.json()["code"] in codes) == (409, True)
        if answer.status_code >= 400:
            assert self._shown(token) == before

    def _choose_on_page(self, token, choice):
        """On the page of the checkout's last payment that has one."""
        with self.shop.scope():
            attempts = CheckoutPaymentAttempt.objects.filter(
                checkout__token=token, redirect_url__isnull=False
            )
            url = attempts.order_by("pk").values_list("redirect_url", flat=True).last()
        if url is not None:
            assert Client().post(f"{urlsplit(url).path}/{choice}").status_code == 303

    def _shown(self, token):
        return self.shop.storefront.get(f"checkouts/{token}.json").json()["checkout"]

    def _storefront(self, verb, path, body=None, **headers):
        answer = self.shop.storefront.send(verb, path, body, **headers)
        assert answer.status_code < 500, answer.content
        return answer

    def _let_expire(self, hours=-1, **which):
        """Have open checkouts end so many hours from now."""
        with self.shop.scope():
            open_ones = Checkout.objects.filter(**which).exclude(phase__in=FINAL_PHASES)
            open_ones.update(expires_at=timezone.now() + timedelta(hours=hours))

    def _run_dispatches(self):
        """Those of payments: what becomes of emails is told elsewhere."""
        self._skip_dispatches(target__task_name="send_email")
        run_due()

    def _skip_dispatches(self, **which):
        with self.shop.scope():
            waiting = OutboxDispatch.objects.filter(finished_at=None, **which)
            waiting.update(status="skipped", finished_at=timezone.now())

    def teardown(self):
        """The next example's sweeper and worker have no work of this one's."""
        self._let_expire(hours=24)
        self._skip_dispatches()


def _any(rows, index):
    """One of the rows; the last one by -1."""
    return rows[index % len(rows)]


# Not the fifteen seconds that it takes, but the minutes in which a difference is shrunk.
@pytest.mark.timeout(600)
def test_books_agree_whatever_shoppers_do(db):
    run_state_machine_as_test(
        LifeOfAShop,
        settings=settings(
            max_examples=max(16, settings.default.max_examples // 10),
            stateful_step_count=40,
            deadline=None,
            phases=[Phase.reuse, Phase.generate, Phase.shrink],
            suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        ),
    )
