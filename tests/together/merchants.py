"""Staff and merchants change a shop while it sells. A refusal is as good as a success, a crash is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import Model
from django.http import HttpResponse
from hypothesis import strategies as st

from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from tests.together.changes import (
    CENTS,
    DISCOUNT_CHANGES,
    DISCOUNTS,
    LIMITS,
    REFUSED,
    ZONE_CHANGES,
)
from tests.together.fair import INDEXES, STALLS, Fair, act
from tests.together.stalls import Stall, any_of


class Merchants(Fair):
    @act(stall=STALLS, index=INDEXES, cents=CENTS, market=st.sampled_from([0, 0, 0, 1]))
    def change_price(self, stall: int, index: int, cents: int, market: int) -> None:
        shop = self.stall(stall)
        market_id = any_of(shop.market_ids, market)
        path = f"variants/{any_of(shop.variant_ids, index)}/pricing/{market_id}.json"
        self._manage(shop, "PUT", path, {"price_cents": cents})

    @act(stall=STALLS, index=INDEXES, changes=st.sampled_from([{"status": "archived"}, {"status": "active"}]))
    def change_product(self, stall: int, index: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        variant = self._manage(shop, "GET", f"variants/{any_of(shop.variant_ids, index)}.json")
        if variant.status_code == 200:
            path = f"products/{variant.json()['variant']['product_id']}.json"
            self._manage(shop, "PUT", path, changes)

    @act(stall=STALLS, index=INDEXES, delta=st.integers(-2, 2).filter(bool), location=INDEXES)
    def adjust_stock(self, stall: int, index: int, delta: int, location: int) -> None:
        shop = self.stall(stall)
        self._bring(shop, any_of(shop.variant_ids, index), any_of(shop.location_ids, location), delta)

    def _bring(self, shop: Stall, variant_id: int, location_id: int, delta: int) -> None:
        body = {"variant_id": variant_id, "location_id": location_id, "delta": delta, "reason": "count"}
        with self._counting(shop, variant_id, delta):
            self._manage(shop, "POST", "inventory_levels/adjust.json", body)

    @contextmanager
    def _counting(self, shop: Stall, variant_id: int, delta: int) -> Iterator[None]:
        """Record by how much the units on hand change in the block, even if the answer is lost."""
        before = self._on_hand(shop, variant_id)
        try:
            yield
        finally:
            change = self._on_hand(shop, variant_id) - before
            assert change in (0, delta, 2 * delta)
            shop.opening.units[variant_id] += change

    @act(stall=STALLS)
    def open_location(self, stall: int) -> None:
        shop = self.stall(stall)
        body = {"handle": f"place-{next(self.numbers)}", "name": shop.secret, "priority": 1}
        answer = self._manage(shop, "POST", "locations.json", body)
        if answer.status_code == 201:
            shop.location_ids.append(int(answer.json()["location"]["id"]))

    @act(stall=STALLS, index=INDEXES, is_active=st.booleans(), priority=st.integers(1, 3))
    def change_location(self, stall: int, index: int, is_active: bool, priority: int) -> None:
        shop = self.stall(stall)
        path = f"locations/{any_of(shop.location_ids, index)}.json"
        self._manage(shop, "PUT", path, {"is_active": is_active, "priority": priority})

    @act(stall=STALLS, fields=DISCOUNTS, limit=LIMITS)
    def create_discount(self, stall: int, fields: dict[str, Any], limit: int | None) -> None:
        shop = self.stall(stall)
        body = fields | {"title": shop.secret, "usage_limit_total": limit, "stackable": True}
        answer = self._manage(shop, "POST", "discounts.json", body)
        if answer.status_code == 201:
            shop.discount_ids.append(int(answer.json()["discount"]["id"]))
            if "code" in fields and fields["code"] not in shop.codes:
                shop.codes.append(fields["code"])

    @act(stall=STALLS, index=INDEXES, changes=DISCOUNT_CHANGES)
    def change_discount(self, stall: int, index: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        discount_id = any_of(shop.discount_ids, index)
        if "usage_limit" in str(changes):
            # Earlier uses may exceed the new limit.
            shop.opening.relimited.add(discount_id)
        self._manage(shop, "PUT", f"discounts/{discount_id}.json", changes)

    @act(stall=STALLS, index=INDEXES)
    def archive_discount(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        self._manage(shop, "DELETE", f"discounts/{any_of(shop.discount_ids, index)}.json")

    @act(stall=STALLS, cents=st.sampled_from([1, 800, 3000]))
    def issue_gift_card(self, stall: int, cents: int) -> None:
        shop = self.stall(stall)
        answer = self._manage(
            shop, "POST", "vouchers.json", {"initial_balance_cents": cents, "currency": "EUR"}
        )
        if answer.status_code == 201:
            card = answer.json()["voucher"]
            shop.codes.append(card["code"])
            shop.card_ids.append(int(card["id"]))

    @act(stall=STALLS, index=INDEXES, how=st.sampled_from(["disable", "revoke"]))
    def end_gift_card(self, stall: int, index: int, how: str) -> None:
        shop = self.stall(stall)
        path = f"vouchers/{any_of(shop.card_ids, index)}"
        if how == "disable":
            self._manage(shop, "DELETE", f"{path}.json")
        else:
            self._manage(shop, "POST", f"{path}/revoke.json", {"reason": "Stolen."})

    @act(stall=STALLS, index=INDEXES, cents=st.integers(1, 900))
    def redeem_gift_card_at_the_till(self, stall: int, index: int, cents: int) -> None:
        shop = self.stall(stall)
        body = {"code": any_of(shop.codes, index), "amount_cents": str(cents)}
        self._manage(shop, "POST", "vouchers/redeem.json", body)

    @act(stall=STALLS, index=INDEXES, cents=CENTS, is_new=st.booleans())
    def change_rate(self, stall: int, index: int, cents: int, is_new: bool) -> None:
        shop = self.stall(stall)
        body = {"price_cents": cents, "currency": "EUR"}
        if not is_new:
            self._manage(shop, "PUT", f"shipping/rates/{any_of(shop.rate_ids, index)}.json", body)
            return
        answer = self._manage(shop, "POST", f"shipping/methods/{shop.method_id}/rates.json", body)
        if answer.status_code == 201:
            shop.rate_ids.append(int(answer.json()["rate"]["id"]))

    @act(stall=STALLS, index=INDEXES)
    def delete_rate(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        self._manage(shop, "DELETE", f"shipping/rates/{any_of(shop.rate_ids, index)}.json")

    @act(stall=STALLS)
    def replace_method(self, stall: int) -> None:
        """Replace a method. The old one is deleted with its rates."""
        shop = self.stall(stall)
        self._manage(shop, "DELETE", f"shipping/methods/{shop.method_id}.json")
        number = next(self.numbers)
        body = {
            "handle": f"method-new-{number}",
            "name": shop.secret,
            "zone_id": shop.zone_id,
            "carrier": "dhl",
        }
        more = {
            "service_code": "parcel",
            "rate_mode": "tiered",
            "is_cod_compatible": True,
            "cod_fee_cents": 99,
        }
        answer = self._manage(shop, "POST", "shipping/methods.json", body | more)
        if answer.status_code == 201:
            shop.method_id = int(answer.json()["method"]["id"])
            rate = {"price_cents": 333, "currency": "EUR"}
            made = self._manage(shop, "POST", f"shipping/methods/{shop.method_id}/rates.json", rate)
            shop.rate_ids.append(int(made.json()["rate"]["id"]))

    @act(stall=STALLS, changes=ZONE_CHANGES)
    def change_zone(self, stall: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        self._manage(shop, "PUT", f"shipping/zones/{shop.zone_id}.json", changes)

    @act(stall=STALLS, index=INDEXES, step=st.sampled_from(["cancel", "mark_paid", "fulfill"]))
    def take_step_of_order(self, stall: int, index: int, step: str) -> None:
        shop = self.stall(stall)
        if order_ids := self._ids(shop, Order):
            self._manage(shop, "POST", f"orders/{any_of(order_ids, index)}/{step}.json", {})

    def _ids(self, shop: Stall, model: type[Model], **which: Any) -> list[int]:
        with shop.shop.scope():
            rows = model._default_manager.filter(**which)
            return list(rows.order_by("pk").values_list("pk", flat=True))

    def _on_hand(self, shop: Stall, variant_id: int) -> int:
        with shop.shop.scope():
            levels = InventoryLevel.objects.filter(variant_id=variant_id)
            return sum(levels.values_list("on_hand", flat=True))

    def _manage(self, shop: Stall, verb: str, path: str, body: Any = None) -> HttpResponse:
        answer = self.admin(shop, verb, path, body)
        assert answer.status_code < 300 or answer.status_code in REFUSED | {502, 503}, answer.content
        return answer
