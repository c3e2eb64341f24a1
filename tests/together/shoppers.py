"""Shoppers' acts, in any order and any of the shops, with old and new tokens."""

from typing import Any

from hypothesis import strategies as st

from tests.together.fair import INDEXES, STALLS, act
from tests.together.shopping import NEXT, Shopping
from tests.together.stalls import STOCK, Stall, any_of

EMAILS = st.sampled_from(["ada@example.com", "Ada@Example.com", "bob@example.com"])
QUANTITIES = st.integers(1, 2)
# Mostly to the end and by card, because everything about gateways happens late.
STEPS = st.sampled_from([*range(9), 4, 4, 8, 8, 8])
METHODS = st.sampled_from(["cod", "bank_transfer", "test_card", "test_card"])
CHOICES = st.sampled_from(["succeed", "decline", "abandon", "unknown"])
VAT = st.sampled_from([("", ""), ("AT", "U57194903"), ("FR", "40303265045")])
# Mostly the first.
MARKETS = st.sampled_from([0, 0, 0, 0, 0, 1, 2])
COUNTRIES = st.sampled_from(["DE", "DE", "AT", "FR"])
ARRIVAL: dict[str, st.SearchStrategy[Any]] = {
    "stall": STALLS,
    "index": INDEXES,
    "quantity": QUANTITIES,
    "email": EMAILS,
    "code": INDEXES,
    "steps": STEPS,
    "method": METHODS,
    "market": MARKETS,
}


class Shoppers(Shopping):
    @act(**ARRIVAL)
    def arrive(
        self,
        stall: int,
        index: int,
        quantity: int,
        email: str,
        code: int,
        steps: int,
        method: str,
        market: int,
    ) -> None:
        """Create a cart with a line and a checkout with a code, and take some steps."""
        shop = self.stall(stall)
        token = self._take_cart(shop, any_of(shop.market_ids, market))
        if token is None:
            return
        self._add_line(shop, token, index, quantity)
        if self._enter(shop, token, email):
            self._act(shop, shop.checkouts[-1], "discount", "POST", {"code": any_of(shop.codes, code)})
            self._go_on(shop, shop.checkouts[-1], steps, method, "succeed")

    @act(stall=STALLS, index=INDEXES, email=EMAILS, market=MARKETS)
    def buy_by_card(self, stall: int, index: int, email: str, market: int) -> None:
        """Go from the cart to the order, without a code."""
        shop = self.stall(stall)
        token = self._take_cart(shop, any_of(shop.market_ids, market))
        if token is not None:
            self._add_line(shop, token, index, 1)
            if self._enter(shop, token, email):
                self._go_on(shop, shop.checkouts[-1], 8, "test_card", "succeed")

    @act(stall=STALLS, checkout=INDEXES)
    def look_at_order(self, stall: int, checkout: int) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            self._look_at_order(shop, any_of(shop.checkouts, checkout))

    @act(stall=STALLS, cart=INDEXES, index=INDEXES, quantity=QUANTITIES)
    def add_line(self, stall: int, cart: int, index: int, quantity: int) -> None:
        shop = self.stall(stall)
        if shop.carts:
            self._add_line(shop, any_of(shop.carts, cart), index, quantity)

    @act(stall=STALLS, cart=INDEXES, index=INDEXES, quantity=st.integers(0, STOCK))
    def change_line(self, stall: int, cart: int, index: int, quantity: int) -> None:
        shop = self.stall(stall)
        token = any_of(shop.carts, cart) if shop.carts else None
        if token is not None and (lines := self._cart(shop, token)):
            path = f"carts/{token}/lines/{any_of(lines, index)['id']}.json"
            self._change_cart(shop, token, "PATCH", path, {"quantity": quantity})

    @act(stall=STALLS, cart=INDEXES, index=INDEXES)
    def remove_line(self, stall: int, cart: int, index: int) -> None:
        shop = self.stall(stall)
        token = any_of(shop.carts, cart) if shop.carts else None
        if token is not None and (lines := self._cart(shop, token)):
            path = f"carts/{token}/lines/{any_of(lines, index)['id']}.json"
            self._change_cart(shop, token, "DELETE", path, None)

    @act(stall=STALLS, cart=INDEXES, source=INDEXES)
    def merge(self, stall: int, cart: int, source: int) -> None:
        """Merge two carts in either direction, whatever checkouts they have."""
        shop = self.stall(stall)
        if shop.carts:
            self._merge(shop, any_of(shop.carts, cart), any_of(shop.carts, source))

    @act(stall=STALLS, index=INDEXES, email=EMAILS, steps=st.integers(0, 8), is_source=st.booleans())
    def merge_in_checkout(self, stall: int, index: int, email: str, steps: int, is_source: bool) -> None:
        """Merge two new carts of one market, one of which is some steps into its checkout."""
        shop = self.stall(stall)
        tokens = [self._take_cart(shop, shop.market_ids[0]) for _ in range(2)]
        target, source = tokens
        if target is None or source is None:
            return
        for token in (target, source):
            self._add_line(shop, token, index, 1)
        if self._enter(shop, source if is_source else target, email):
            self._go_on(shop, shop.checkouts[-1], steps, "test_card", "succeed")
        self._merge(shop, target, source)

    def _merge(self, shop: Stall, token: str, source_token: str) -> None:
        body = {"source_cart_token": source_token}
        try:
            self._change_cart(shop, token, "POST", f"carts/{token}/merge.json", body)
        finally:
            if (lines := self._cart(shop, source_token, new=True)) is not None:
                shop.lines[source_token] = {line["id"]: line for line in lines}

    @act(stall=STALLS, cart=INDEXES, index=INDEXES)
    def say_who_it_is(self, stall: int, cart: int, index: int) -> None:
        shop = self.stall(stall)
        if shop.carts:
            body = {"customer_id": any_of([*shop.customer_ids, None], index)}
            self.storefront(shop, "PUT", f"carts/{any_of(shop.carts, cart)}/customer.json", body)

    @act(stall=STALLS, cart=INDEXES, email=EMAILS)
    def enter_checkout(self, stall: int, cart: int, email: str) -> None:
        """Enter checkout, also for a cart whose checkout this one replaces."""
        shop = self.stall(stall)
        if shop.carts:
            self._enter(shop, any_of(shop.carts, cart), email)

    @act(stall=STALLS, checkout=INDEXES, steps=STEPS, method=METHODS, choice=CHOICES)
    def go_on(self, stall: int, checkout: int, steps: int, method: str, choice: str) -> None:
        """Take the next steps with valid data, like most shoppers."""
        shop = self.stall(stall)
        if shop.checkouts:
            self._go_on(shop, any_of(shop.checkouts, checkout), steps, method, choice)

    @act(stall=STALLS, checkout=INDEXES, choice=CHOICES)
    def pay_by_card(self, stall: int, checkout: int, choice: str) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            self._go_on(shop, any_of(shop.checkouts, checkout), 8, "test_card", choice)

    @act(
        stall=STALLS,
        checkout=INDEXES,
        operation=st.sampled_from([*NEXT.values(), "confirm", "complete"]),
        method=METHODS,
        country=COUNTRIES,
    )
    def take_any_step(self, stall: int, checkout: int, operation: str, method: str, country: str) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            token = any_of(shop.checkouts, checkout)
            self._step(shop, token, operation, method=method, country=country)

    @act(stall=STALLS, checkout=INDEXES, email=EMAILS)
    def give_email(self, stall: int, checkout: int, email: str) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            self._step(shop, any_of(shop.checkouts, checkout), "address", email=email)

    @act(stall=STALLS, checkout=INDEXES, index=INDEXES, is_entered=st.booleans())
    def enter_or_remove_code(self, stall: int, checkout: int, index: int, is_entered: bool) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            token, code = any_of(shop.checkouts, checkout), any_of(shop.codes, index)
            if is_entered:
                self._act(shop, token, "discount", "POST", {"code": code})
            else:
                self._act(shop, token, "discount", "DELETE", path=f"discount/{code}")

    @act(stall=STALLS, checkout=INDEXES, number=VAT)
    def give_vat_number(self, stall: int, checkout: int, number: tuple[str, str]) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            body = dict(zip(("vat_country_code", "vat_number"), number, strict=True))
            self._act(shop, any_of(shop.checkouts, checkout), "vat", "PUT", body)

    @act(stall=STALLS, checkout=INDEXES)
    def cancel_payment(self, stall: int, checkout: int) -> None:
        shop = self.stall(stall)
        if shop.checkouts:
            body = {"callback_payload": {"cancel": True}}
            self._act(shop, any_of(shop.checkouts, checkout), "confirm", "POST", body)

    @act(stall=STALLS, checkout=INDEXES, choice=CHOICES)
    def choose_on_page(self, stall: int, checkout: int, choice: str) -> None:
        """Choose an outcome on a payment page, which may be old or closed."""
        shop = self.stall(stall)
        if shop.checkouts:
            self._choose_on_page(shop, any_of(shop.checkouts, checkout), choice)

    @act(stall=STALLS, other=STALLS, index=INDEXES)
    def try_tokens_of_another_shop(self, stall: int, other: int, index: int) -> None:
        shop, stranger = self.stall(stall), self.stall(other)
        if shop is stranger or stranger.is_archived or stranger.is_suspended:
            return
        for kind, tokens in (("carts", shop.carts), ("checkouts", shop.checkouts)):
            if tokens:
                path = f"{kind}/{any_of(tokens, index)}.json"
                assert self.storefront(stranger, "GET", path).status_code == 404

    # A rule counts once for each of its names. What shoppers do most should often meet the acts of others.
    arrive_too = arrive
    go_on_from_there = go_on
    go_on_at_last = go_on
    pay_by_card_at_last = pay_by_card
    pay_by_card_too = pay_by_card
    arrive_again = arrive
    merge_again = merge
    pay = choose_on_page
    buy_by_card_too = buy_by_card
    buy_by_card_at_last = buy_by_card
    cancel_payment_too = cancel_payment
    confirm_payment_too = pay_by_card
