"""What staff and merchants do to a shop while it sells. A refusal is as good as a success, a crash is not."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from hypothesis import strategies as st

from accounts.models import Account
from accounts.operations import set_suspended
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.tenancy.scope import workspace_scope
from tests.clients import ApiClient
from tests.together.deaths import Killed
from tests.together.fair import INDEXES, STALLS, Fair, act
from tests.together.stalls import Stall, any_of

REFUSED = {403, 404, 409, 422}
CENTS = st.sampled_from([0, 1, 500, 999, 1750, 5000])
LIMITS = st.sampled_from([None, 1, 2, 4])
DISCOUNTS = st.sampled_from(
    [
        {"type": "discount_code", "code": "NEW", "value_mode": "percentage", "value_amount": 3333},
        {"type": "discount_code", "code": "FIX", "value_mode": "fixed_amount", "value_amount": 700, "currency": "EUR"},
        {"type": "discount_code", "code": "ALL", "value_mode": "free"},
        {"type": "automatic_discount", "value_mode": "set_price", "value_amount": 1500, "currency": "EUR"},
        {
            "type": "buy_x_get_y",
            "code": "BOGO",
            "bogo_config": {"buy": {"quantity": 1}, "get": {"quantity": 1}, "value_mode": "percentage", "value_amount": 5000},
        },
    ]
)
DISCOUNT_CHANGES = st.one_of(
    st.builds(lambda limit: {"usage_limit_total": limit}, LIMITS),
    st.builds(lambda limit: {"usage_limit_per_customer": limit}, LIMITS),
    st.builds(lambda amount: {"value_amount": amount}, st.sampled_from([0, 100, 10000])),
    st.builds(lambda code: {"code": code}, st.sampled_from([None, "C0", "OTHER"])),
    st.builds(lambda status: {"status": status}, st.sampled_from(["active", "disabled"])),
    st.builds(lambda on: {"stackable": on}, st.booleans()),
    st.just({"ends_at": "2020-01-02T00:00:00Z", "starts_at": "2020-01-01T00:00:00Z"}),
    st.just({"ends_at": None, "starts_at": None}),
    st.just({"first_order_only": True}),
    st.just({"customer_eligibility": "tagged", "customer_tags": ["vip"]}),
)
MARKET_CHANGES = st.one_of(
    st.builds(lambda on: {"prices_include_tax": on}, st.booleans()),
    st.builds(lambda country: {"country_code": country}, st.sampled_from(["DE", "AT"])),
    st.builds(lambda locale: {"locale": locale}, st.sampled_from(["de-DE", "en-GB"])),
    st.builds(lambda status: {"status": status}, st.sampled_from(["active", "inactive"])),
)
SETTINGS = st.one_of(
    st.builds(
        lambda when: {"commerce.checkout.reserve_at": when},
        st.sampled_from(["checkout_enter", "payment_start"]),
    ),
    st.builds(lambda on: {"commerce.payments.test_card": on}, st.booleans()),
    st.builds(lambda minutes: {"commerce.checkout.session_ttl_minutes": minutes}, st.sampled_from([5, 60, None])),
)
ZONE_CHANGES = st.sampled_from(
    [
        {"country_codes": ["AT"]},
        {"country_codes": ["DE", "AT"]},
        {"zip_patterns": ["99*"]},
        {"zip_patterns": []},
        {"market_id": None},
    ]
)
# Names that the product gives to work of its own.
EMAIL_KEYS = st.sampled_from(["refund_payment/{}", "cancel_payment/{}", "order.confirmation/{}", "webhook/1/{}", "k{}"])
TEMPLATE = {"subject_template": "S {{ order.number }}", "body_source": "<mjml><mj-body></mj-body></mjml>"}


class Merchants(Fair):
    @act(stall=STALLS, index=INDEXES, cents=CENTS)
    def change_price(self, stall: int, index: int, cents: int) -> None:
        shop = self.stall(stall)
        path = f"variants/{any_of(shop.variant_ids, index)}/pricing/{shop.shop.market.pk}.json"
        self._manage(shop, "PUT", path, {"price_cents": cents})

    @act(stall=STALLS, rate_bp=st.sampled_from([0, 700, 1900, 10_000]))
    def change_tax(self, stall: int, rate_bp: int) -> None:
        shop = self.stall(stall)
        body = {"country_code": "DE", "rate_bp": rate_bp}
        self._manage(shop, "PUT", f"tax_rates/{shop.tax_rate_id}.json", body)

    @act(stall=STALLS, changes=MARKET_CHANGES)
    def change_market(self, stall: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        self._manage(shop, "PUT", f"markets/{shop.shop.market.pk}.json", changes)

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
        variant_id = any_of(shop.variant_ids, index)
        body = {"variant_id": variant_id, "location_id": any_of(shop.location_ids, location), "delta": delta}
        before = self._on_hand(shop, variant_id)
        try:
            self._manage(shop, "POST", "inventory_levels/adjust.json", body | {"reason": "count"})
        finally:
            # Where the answer was lost, the shelf alone tells.
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
            # What is used up already may be more than what is allowed from now on.
            shop.opening.relimited.add(discount_id)
        self._manage(shop, "PUT", f"discounts/{discount_id}.json", changes)

    @act(stall=STALLS, index=INDEXES)
    def archive_discount(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        self._manage(shop, "DELETE", f"discounts/{any_of(shop.discount_ids, index)}.json")

    @act(stall=STALLS, cents=st.sampled_from([1, 800, 3000]))
    def issue_gift_card(self, stall: int, cents: int) -> None:
        shop = self.stall(stall)
        answer = self._manage(shop, "POST", "vouchers.json", {"initial_balance_cents": cents, "currency": "EUR"})
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
        """The old one goes with its rates."""
        shop = self.stall(stall)
        self._manage(shop, "DELETE", f"shipping/methods/{shop.method_id}.json")
        number = next(self.numbers)
        body = {"handle": f"method-new-{number}", "name": shop.secret, "zone_id": shop.zone_id, "carrier": "dhl"}
        more = {"service_code": "parcel", "rate_mode": "tiered", "is_cod_compatible": True, "cod_fee_cents": 99}
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

    @act(stall=STALLS, email=st.sampled_from(["ada@example.com", "bob@example.com"]), is_vip=st.booleans())
    def create_customer(self, stall: int, email: str, is_vip: bool) -> None:
        shop = self.stall(stall)
        body = {"email": email, "first_name": shop.secret, "tags": ["vip"] if is_vip else []}
        answer = self._manage(shop, "POST", "customers.json", body)
        if answer.status_code == 201:
            shop.customer_ids.append(int(answer.json()["customer"]["id"]))

    @act(stall=STALLS, index=INDEXES, changes=st.sampled_from([{"tags": ["vip"]}, {"tags": []}, {"email": "eve@example.com"}]))
    def change_customer(self, stall: int, index: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        self._manage(shop, "PUT", f"customers/{any_of(shop.customer_ids, index)}.json", changes)

    @act(stall=STALLS, index=INDEXES)
    def redact_customer(self, stall: int, index: int) -> None:
        """Also one who was made a guest by an order."""
        shop = self.stall(stall)
        answer = self._manage(shop, "GET", "customers.json")
        if answer.status_code == 200 and (customers := answer.json()["customers"]):
            shop.opening.is_redacted = True
            self._manage(shop, "POST", f"customers/{any_of(customers, index)['id']}/redact.json", {})

    @act(stall=STALLS, is_on=st.booleans(), index=INDEXES)
    def change_preferences(self, stall: int, is_on: bool, index: int) -> None:
        shop = self.stall(stall)
        path = f"customers/{any_of(shop.customer_ids, index)}/notification_preferences.json"
        self._manage(shop, "PUT", path, {"notification_preferences": {"order.confirmation": is_on}})

    @act(stall=STALLS, is_kept=st.booleans())
    def change_template(self, stall: int, is_kept: bool) -> None:
        shop = self.stall(stall)
        verb, body = ("PUT", TEMPLATE) if is_kept else ("DELETE", None)
        self._manage(shop, verb, "email/templates/order.confirmation/en.json", body)

    @act(stall=STALLS, key=EMAIL_KEYS, number=st.integers(1, 400), index=INDEXES)
    def send_email(self, stall: int, key: str, number: int, index: int) -> None:
        """Under a key that the product may take for one of its own."""
        shop = self.stall(stall)
        customer_id = any_of(shop.customer_ids, index)
        body = {"template_key": "order.confirmation", "customer_id": customer_id, "ctx": {}}
        more = {"locale": "en", "idempotency_key": key.format(number)}
        self._manage(shop, "POST", "email/send.json", body | more)

    @act(stall=STALLS, changes=SETTINGS)
    def change_settings(self, stall: int, changes: dict[str, Any]) -> None:
        self._manage(self.stall(stall), "PUT", "settings.json", {"settings": changes})

    @act(stall=STALLS, topics=st.sampled_from([[], ["order.paid"]]))
    def open_webhook(self, stall: int, topics: list[str]) -> None:
        shop = self.stall(stall)
        body = {"url": f"http://127.0.0.1:9/{next(self.numbers)}", "topics": topics}
        self._manage(shop, "POST", "webhook_endpoints.json", body)

    @act(stall=STALLS, grace_seconds=st.sampled_from([0, 60]))
    def rotate_storefront_key(self, stall: int, grace_seconds: int) -> None:
        shop = self.stall(stall)
        answer = self._manage(shop, "GET", "api_keys.json")
        if answer.status_code != 200:
            return
        keys = [key for key in answer.json()["api_keys"] if key["kind"] == "storefront"]
        key = max(keys, key=lambda key: int(key["id"]))
        body = {"grace_seconds": grace_seconds}
        try:
            rotated = self._manage(shop, "POST", f"api_keys/{key['id']}/rotate.json", body)
        except Killed:
            # Its secret is lost with the answer.
            self._take_key(shop, shop.shop.issue("storefront"))
            raise
        if rotated.status_code == 201 and rotated.json()["api_key"]["secret"]:
            self._take_key(shop, rotated.json()["api_key"]["secret"])

    @act(stall=STALLS, index=INDEXES, step=st.sampled_from(["cancel", "mark_paid", "fulfill"]))
    def take_step_of_order(self, stall: int, index: int, step: str) -> None:
        shop = self.stall(stall)
        with shop.shop.scope():
            order_ids = list(Order.objects.order_by("pk").values_list("pk", flat=True))
        if order_ids:
            self._manage(shop, "POST", f"orders/{any_of(order_ids, index)}/{step}.json", {})

    @act(stall=STALLS, is_suspended=st.booleans())
    def suspend_account(self, stall: int, is_suspended: bool) -> None:
        self._suspend(self.stall(stall), is_suspended)

    @act(stall=STALLS)
    def archive_account(self, stall: int) -> None:
        shop = self.stall(stall)
        # One stays open, or there is nothing more to see.
        if sum(other.is_archived for other in self.stalls) < len(self.stalls) - 1:
            shop.is_archived = True
            path = f"/admin/2026-01/accounts/{shop.shop.handle}.json"
            assert self.send(shop, shop.shop.workspace, "DELETE", path).status_code == 200

    def _take_key(self, shop: Stall, secret: str) -> None:
        shop.shop = replace(shop.shop, storefront=ApiClient.storefront(secret))

    def _on_hand(self, shop: Stall, variant_id: int) -> int:
        with shop.shop.scope():
            levels = InventoryLevel.objects.filter(variant_id=variant_id)
            return sum(levels.values_list("on_hand", flat=True))

    def _suspend(self, shop: Stall, is_suspended: bool) -> None:
        def suspend() -> None:
            with workspace_scope(shop.shop.workspace_id):
                account = Account.objects.get(pk=shop.shop.id)
                set_suspended(account=account, suspended=is_suspended, now=timezone.now())

        shop.is_suspended = shop.is_suspended or is_suspended
        self.work(suspend)
        shop.is_suspended = is_suspended

    def _manage(self, shop: Stall, verb: str, path: str, body: Any = None) -> HttpResponse:
        answer = self.admin(shop, verb, path, body)
        assert answer.status_code < 300 or answer.status_code in REFUSED | {502, 503}, answer.content
        return answer
