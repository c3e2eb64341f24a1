"""The requests of shoppers' acts, with checks of each answer."""

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse

from checkouts.models import CheckoutPaymentAttempt
from checkouts.phases import ALLOWED_PHASES, FINAL_PHASES
from commerce.orders.models import Order
from tests.storefront import ADDRESS
from tests.together.fair import Fair
from tests.together.stalls import Stall, any_of

URLS = {"return_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no"}
# The next step of a checkout in each phase; in `failed`, another payment.
NEXT = {
    "pending": "address",
    "address": "shipping",
    "shipping": "payment_method",
    "payment": "start_payment",
    "failed": "payment_method",
}
REFUSED_BY_PHASE = {"invalid_phase", "checkout_expired", "checkout_already_completed"}
# Refusals by a closed shop, which come before anything about the checkout is checked.
TURNED_AWAY = {401, 403, 404}


class Shopping(Fair):
    def _take_cart(self, shop: Stall, market_id: int) -> str | None:
        """Create a cart and return its token, or None if that is refused."""
        answer = self.storefront(shop, "POST", "carts.json", {"market_id": market_id})
        if answer.status_code != 201:
            return None
        token: str = answer.json()["cart"]["token"]
        shop.carts.append(token)
        shop.lines[token] = {}
        return token

    def _add_line(self, shop: Stall, token: str, index: int, quantity: int) -> None:
        line = {"variant_id": any_of(shop.variant_ids, index), "quantity": quantity}
        self._change_cart(shop, token, "POST", f"carts/{token}/lines.json", line)

    def _cart(self, shop: Stall, token: str, *, new: bool = False) -> list[dict[str, Any]] | None:
        """Return the cart's lines, or None if the shop is closed.

        None may have another price than when it was shown last, unless it was changed since.
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
        """Change a cart. Refused requests must change nothing, and others only their line."""
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
        """Enter checkout, whose prices must be the cart's; return whether stock and cart allowed it."""
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
        """Take a step with valid data."""
        address = {"shipping_address": ADDRESS | {"country_code": country}, "same_as_shipping": True}
        currency = shop.shown[token]["currency"] if token in shop.shown else "EUR"
        rate_id = any_of(shop.rate_ids if currency == "EUR" else shop.foreign_rate_ids or shop.rate_ids, -1)
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
        """Send a request. It must be refused if the phase forbids it, and what is refused must change nothing."""
        before, is_sent_twice = self._shown(shop, token), self.is_sent_twice
        if before is None:
            return
        shop.shown.pop(token)
        try:
            path = f"checkouts/{token}/{path or operation}.json"
            answer = self.storefront(shop, verb, path, body, **headers)
        finally:
            after = self._shown(shop, token)
        # Its own key completes a checkout once, even after the stored answer is deleted.
        is_done = operation == "complete" and before["phase"] == "completed"
        is_replayed = "Idempotent-Replayed" in answer or (is_done and answer.status_code == 200)
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

    def _look_at_order(self, shop: Stall, token: str) -> None:
        """Check that the order of a checkout shows what the checkout showed."""
        shown = self._shown(shop, token)
        if shown is None or shown["order_id"] is None:
            return
        with shop.shop.scope():
            order = Order.objects.get(pk=shown["order_id"])
        answer = self.storefront(shop, "GET", f"orders/{order.token}.json")
        if not self._is_turned_away(shop, answer):
            totals = answer.json()["order"]["totals"]
            assert {name: totals[name] for name in shown["totals"]} == shown["totals"]

    def _choose_on_page(self, shop: Stall, token: str, choice: str) -> None:
        """Choose an outcome on the page of the checkout's last payment that has one."""
        with shop.shop.scope():
            attempts = CheckoutPaymentAttempt.objects.filter(
                checkout__token=token, redirect_url__isnull=False
            )
            url = attempts.order_by("pk").values_list("redirect_url", flat=True).last()
        if url is not None:
            self.visit(f"{urlsplit(url).path}/{choice}")

    def _shown(self, shop: Stall, token: str) -> dict[str, Any] | None:
        """Return the checkout, or None if the shop is closed. It must cost what it cost when it was shown last."""
        answer = self.storefront(shop, "GET", f"checkouts/{token}.json")
        if self._is_turned_away(shop, answer):
            return None
        checkout: dict[str, Any] = answer.json()["checkout"]
        assert shop.shown.get(token, checkout["totals"]) == checkout["totals"]
        self._note(shop, checkout)
        return checkout

    def _is_turned_away(self, shop: Stall, answer: HttpResponse) -> bool:
        """Return whether a closed shop refused the request. An open one must not refuse it like that."""
        is_closed = shop.is_archived or shop.is_suspended
        assert answer.status_code in ({200} | TURNED_AWAY if is_closed else {200}), answer.content
        return answer.status_code != 200

    def _note(self, shop: Stall, checkout: dict[str, Any]) -> None:
        shop.shown[checkout["token"]] = checkout["totals"]


def _price_of(line: dict[str, Any]) -> tuple[Any, ...]:
    """Return price and quantity of a cart line."""
    names = ("id", "quantity", "unit_price_with_tax_cents", "unit_price_without_tax_cents", "tax_rate_bp")
    return tuple(line[name] for name in names)
