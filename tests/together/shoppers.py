"""What shoppers do: anything in any order, in any of the shops, with tokens of before as with new ones."""

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse
from hypothesis import strategies as st

from checkouts.models import CheckoutPaymentAttempt
from checkouts.phases import ALLOWED_PHASES, FINAL_PHASES
from tests.storefront import ADDRESS
from tests.together.fair import INDEXES, STALLS, Fair, act
from tests.together.stalls import STOCK, Stall, any_of

EMAILS = st.sampled_from(["ada@example.com", "Ada@Example.com", "bob@example.com"])
QUANTITIES = st.integers(1, 2)
# Mostly to the end, and by card, as all that a gateway has to do with begins late.
STEPS = st.sampled_from([*range(9), 4, 4, 8, 8, 8])
METHODS = st.sampled_from(["cod", "bank_transfer", "test_card", "test_card"])
CHOICES = st.sampled_from(["succeed", "decline", "abandon", "unknown"])
VAT = st.sampled_from([("", ""), ("AT", "U57194903"), ("FR", "40303265045")])
COUNTRIES = st.sampled_from(["DE", "DE", "AT", "FR"])
URLS = {"return_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"}
# The next step of a checkout in each phase; from `failed` another try to pay.
NEXT = {
    "pending": "address",
    "address": "shipping",
    "shipping": "payment_method",
    "payment": "start_payment",
    "failed": "payment_method",
}
REFUSED_BY_PHASE = {"invalid_phase", "checkout_expired", "checkout_already_completed"}
# Whoever asks is turned away before anything of the checkout is looked at.
TURNED_AWAY = {401, 403, 404}
ARRIVAL: dict[str, st.SearchStrategy[Any]] = {
    "stall": STALLS,
    "index": INDEXES,
    "quantity": QUANTITIES,
    "email": EMAILS,
    "code": INDEXES,
    "steps": STEPS,
    "method": METHODS,
}


class Shoppers(Fair):
    @act(**ARRIVAL)
    def arrive(
        self, stall: int, index: int, quantity: int, email: str, code: int, steps: int, method: str
    ) -> None:
        """A new cart with a line, its checkout with a code, and some steps of it."""
        shop = self.stall(stall)
        answer = self.storefront(shop, "POST", "carts.json", {"market_id": shop.shop.market.pk})
        if answer.status_code != 201:
            return
        token = answer.json()["cart"]["token"]
        shop.carts.append(token)
        shop.lines[token] = {}
        self._add_line(shop, token, index, quantity)
        if self._enter(shop, token, email):
            self._act(shop, shop.checkouts[-1], "discount", "POST", {"code": any_of(shop.codes, code)})
            self._go_on(shop, shop.checkouts[-1], steps, method, "succeed")

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

    @act(stall=STALLS, cart=INDEXES, source=INDEXES)
    def merge(self, stall: int, cart: int, source: int) -> None:
        """Into a cart, or out of it, whatever checkouts the two have."""
        shop = self.stall(stall)
        if shop.carts:
            token, source_token = any_of(shop.carts, cart), any_of(shop.carts, source)
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
        """Also from a cart that has a checkout, which this one replaces."""
        shop = self.stall(stall)
        if shop.carts:
            self._enter(shop, any_of(shop.carts, cart), email)

    @act(stall=STALLS, checkout=INDEXES, steps=STEPS, method=METHODS, choice=CHOICES)
    def go_on(self, stall: int, checkout: int, steps: int, method: str, choice: str) -> None:
        """The next steps with good data, as most shoppers take them."""
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
        """Also on a page of before, or one that is closed."""
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

    # There are as many rules as names: what shoppers do most is what the others' acts are to meet.
    arrive_too = arrive
    go_on_from_there = go_on
    go_on_at_last = go_on
    pay_by_card_at_last = pay_by_card
    pay_by_card_too = pay_by_card
    arrive_again = arrive
    merge_again = merge
    pay = choose_on_page

    def _add_line(self, shop: Stall, token: str, index: int, quantity: int) -> None:
        line = {"variant_id": any_of(shop.variant_ids, index), "quantity": quantity}
        self._change_cart(shop, token, "POST", f"carts/{token}/lines.json", line)

    def _cart(self, shop: Stall, token: str, *, new: bool = False) -> list[dict[str, Any]] | None:
        """Its lines; none has another price than when it was shown last, unless it was changed since.

        None where its shop is closed.
        """
        answer = self.storefront(shop, "GET", f"carts/{token}.json")
        if self._is_turned_away(shop, answer):
            return None
        lines: list[dict[str, Any]] = answer.json()["cart"]["line_items"]
        if not new:
            shown = shop.lines[token].values()
            assert list(map(_price_of, lines)) == list(map(_price_of, shown))
        return lines

    def _change_cart(self, shop: Stall, token: str, verb: str, path: str, body: Any) -> None:
        """What is refused has changed nothing; and what is changed leaves other lines as they were."""
        shown = self._cart(shop, token)
        if shown is None:
            return
        before = {line["id"]: line for line in shown}
        try:
            self.storefront(shop, verb, path, body)
        finally:
            after = {line["id"]: line for line in self._cart(shop, token, new=True) or ()}
            shop.lines[token] = after
        for name in before.keys() & after.keys():
            is_same = before[name]["quantity"] == after[name]["quantity"]
            is_untouched = is_same and verb == "POST" and "merge" not in path
            assert not is_untouched or _price_of(before[name]) == _price_of(after[name])

    def _enter(self, shop: Stall, cart_token: str, email: str) -> bool:
        """Whether there was enough in stock, and anything in the cart. Its prices are those that the cart showed."""
        lines = self._cart(shop, cart_token)
        if lines is None:
            return False
        body = {"cart_token": cart_token, "email": email}
        answer = self.storefront(shop, "POST", "checkouts.json", body)
        if answer.status_code != 201:
            return False
        checkout = answer.json()["checkout"]
        shop.checkouts.append(checkout["token"])
        self._note(shop, checkout)
        asked = sum(int(line["line_total_with_tax_cents"]) for line in lines)
        assert int(checkout["totals"]["subtotal_with_tax_cents"]) == asked
        return True

    def _go_on(self, shop: Stall, token: str, steps: int, method: str, choice: str) -> None:
        for _ in range(steps):
            shown = self._shown(shop, token)
            if shown is None or shown["phase"] in FINAL_PHASES:
                break
            if shown["phase"] == "processing":
                self._choose_on_page(shop, token, choice)
            last = "complete" if shown["ready_to_complete"] else "confirm"
            self._step(shop, token, NEXT.get(shown["phase"], last), method=method)

    def _step(
        self,
        shop: Stall,
        token: str,
        operation: str,
        *,
        method: str = "cod",
        email: str | None = None,
        country: str = "DE",
    ) -> None:
        """With good data."""
        address = {"shipping_address": ADDRESS | {"country_code": country}, "same_as_shipping": True}
        rate_id = any_of(shop.rate_ids, -1)
        bodies = {
            "address": address | ({"email": email} if email else {}),
            "shipping": {"shipping_method_id": shop.method_id, "shipping_rate_id": rate_id},
            "payment_method": {"payment_method": method},
            "start_payment": URLS,
            "confirm": {"callback_payload": {}},
            "complete": {},
        }
        verb = "PUT" if operation in ("address", "shipping", "payment_method") else "POST"
        headers = {"idempotency_key": f"complete-{token}"} if operation == "complete" else {}
        self._act(shop, token, operation, verb, bodies[operation], **headers)

    def _act(
        self,
        shop: Stall,
        token: str,
        operation: str,
        verb: str,
        body: Any = None,
        *,
        path: str | None = None,
        **headers: str,
    ) -> None:
        """Where the phase forbids it, it is refused; whatever is refused has changed nothing."""
        before, is_sent_twice = self._shown(shop, token), self.is_sent_twice
        if before is None:
            return
        shop.shown.pop(token)
        try:
            path = f"checkouts/{token}/{path or operation}.json"
            answer = self.storefront(shop, verb, path, body, **headers)
        finally:
            after = self._shown(shop, token)
        is_replayed = "Idempotent-Replayed" in answer
        if before["phase"] not in ALLOWED_PHASES[operation] and not is_replayed:
            assert (answer.status_code, answer.json()["code"] in REFUSED_BY_PHASE) == (409, True)
        if answer.status_code >= 400:
            assert is_sent_twice or after == before
        elif operation == "start_payment":
            due = before["totals"]["amount_due_cents"]
            assert answer.json()["payment_attempt"]["amount_cents"] == due
        if operation in ("start_payment", "confirm", "complete"):
            assert after is not None
            assert after["totals"] == before["totals"]

    def _choose_on_page(self, shop: Stall, token: str, choice: str) -> None:
        """On the page of the checkout's last payment that has one."""
        with shop.shop.scope():
            attempts = CheckoutPaymentAttempt.objects.filter(
                checkout__token=token, redirect_url__isnull=False
            )
            url = attempts.order_by("pk").values_list("redirect_url", flat=True).last()
        if url is not None:
            self.visit(f"{urlsplit(url).path}/{choice}")

    def _shown(self, shop: Stall, token: str) -> dict[str, Any] | None:
        """The checkout, which costs what it cost when it was shown last; None where its shop is closed."""
        answer = self.storefront(shop, "GET", f"checkouts/{token}.json")
        if self._is_turned_away(shop, answer):
            return None
        checkout: dict[str, Any] = answer.json()["checkout"]
        assert shop.shown.get(token, checkout["totals"]) == checkout["totals"]
        self._note(shop, checkout)
        return checkout

    def _is_turned_away(self, shop: Stall, answer: HttpResponse) -> bool:
        """By a shop that is closed, and by no other."""
        is_closed = shop.is_archived or shop.is_suspended
        assert answer.status_code in ({200} | TURNED_AWAY if is_closed else {200}), answer.content
        return answer.status_code != 200

    def _note(self, shop: Stall, checkout: dict[str, Any]) -> None:
        shop.shown[checkout["token"]] = checkout["totals"]


def _price_of(line: dict[str, Any]) -> tuple[Any, ...]:
    """What a line of a cart costs, and how much it is."""
    names = ("id", "quantity", "unit_price_with_tax_cents", "unit_price_without_tax_cents", "tax_rate_bp")
    return tuple(line[name] for name in names)
