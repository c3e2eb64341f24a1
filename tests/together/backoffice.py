"""Acts of staff in the back office on the same rows as the API, also by forms opened long before."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from hypothesis import strategies as st

from commerce.catalog.models import Product, Variant
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from tests.backoffice.clients import StaffClient, filled, make_staff
from tests.together.fair import INDEXES, STALLS, act
from tests.together.merchants import Merchants
from tests.together.stalls import Form, Stall, any_of

STEPS = st.sampled_from(["cancel", "cancel", "mark_paid", "fulfill", "mark_refunded"])
# A kind of row, and the values to fill in.
FORMS = st.sampled_from(
    [
        ("variant", {"weight_grams": "40000"}),
        ("variant", {"tax_class": "reduced"}),
        ("variant", {"pricing-0-price_cents": "7.77"}),
        ("product", {"status": "active"}),
        ("product", {"status": "archived"}),
        ("product", {"variants-0-allow_backorder": "on"}),
        ("discount", {"value_amount": "25"}),
        ("discount", {"usage_limit_total": "1"}),
        ("discount", {"code": ""}),
        ("discount", {"status": "disabled"}),
        ("market", {"prices_include_tax": ""}),
        ("market", {"status": "active"}),
        ("method", {"cod_fee_cents": "0.01"}),
        ("zone", {"country_codes": "AT"}),
        ("location", {"priority": "3"}),
        ("tax_rate", {"rate_bp": "10"}),
        ("customer", {"email": "eve@example.com"}),
    ]
)


class BackOffice(Merchants):
    @act(stall=STALLS, index=INDEXES, step=STEPS)
    def take_step_of_order_by_hand(self, stall: int, index: int, step: str) -> None:
        shop = self.stall(stall)
        if order_ids := self._ids(shop, Order):
            fields = {"carrier": "", "tracking_number": "", "tracking_url": "", "reason": ""}
            self._confirm(shop, f"orders/order/{any_of(order_ids, index)}/{step}/", **fields)

    @act(stall=STALLS, index=INDEXES, kind=st.sampled_from(["product", "variant", "discount", "market"]))
    def end_rows_of_list(self, stall: int, index: int, kind: str) -> None:
        """End two rows at once by a list action."""
        shop = self.stall(stall)
        paths = {
            "product": ("catalog/product/bulk/archive/", self._ids(shop, Product)),
            "variant": ("catalog/variant/bulk/archive/", self._ids(shop, Variant)),
            "discount": ("discounts/discount/bulk/archive/", shop.discount_ids),
            "market": ("accounts/market/bulk/deactivate/", shop.market_ids),
        }
        path, ids = paths[kind]
        data = {"ids": [any_of(ids, index), any_of(ids, index + 1)]}
        self._use(shop, lambda staff: staff.post(path, data))

    @act(stall=STALLS, index=INDEXES, how=st.sampled_from(["disable", "revoke", "resend"]))
    def end_gift_card_by_hand(self, stall: int, index: int, how: str) -> None:
        shop = self.stall(stall)
        self._confirm(shop, f"discounts/voucher/{any_of(shop.card_ids, index)}/{how}/", reason="Stolen")

    @act(stall=STALLS, index=INDEXES, delta=st.integers(-2, 2).filter(bool))
    def adjust_stock_by_hand(self, stall: int, index: int, delta: int) -> None:
        shop = self.stall(stall)
        variant_id = any_of(shop.variant_ids, index)
        if level_ids := self._ids(shop, InventoryLevel, variant_id=variant_id):
            path = f"inventory/inventorylevel/{any_of(level_ids, index)}/adjust/"
            with self._counting(shop, variant_id, delta):
                self._confirm(shop, path, delta=delta, reason="count")

    @act(stall=STALLS, index=INDEXES)
    def redact_customer_by_hand(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        shop.opening.is_redacted = True
        self._confirm(shop, f"customers/customer/{any_of(shop.customer_ids, index)}/redact/")

    @act(stall=STALLS, index=INDEXES, form=FORMS)
    def open_form(self, stall: int, index: int, form: tuple[str, dict[str, str]]) -> None:
        """Open a form to be sent later, whatever happens meanwhile."""
        shop = self.stall(stall)
        kind, changes = form
        path = self._path_of(shop, kind, index)
        page = self._use(shop, lambda staff: staff.get(path))
        if page.status_code == 200 and page.context["has_change_permission"]:
            shop.forms.append(Form(path, filled(page), changes))

    @act(stall=STALLS, index=INDEXES)
    def send_form(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        if not shop.forms:
            return
        form = any_of(shop.forms, index)
        # Its other fields are sent as they were when the form was opened.
        if "discounts/discount" in form.path:
            shop.opening.relimited.update(shop.discount_ids)
        if "catalog/" in form.path:
            shop.opening.retracked.update(shop.variant_ids)
        data = {name: value for name, value in (form.opened | form.changes).items() if value is not None}
        self._use(shop, lambda staff: staff.post(form.path, data))

    send_form_at_last = send_form

    def _path_of(self, shop: Stall, kind: str, index: int) -> str:
        paths = {
            "variant": ("catalog/variant", shop.variant_ids),
            "product": ("catalog/product", self._ids(shop, Product)),
            "discount": ("discounts/discount", shop.discount_ids),
            "market": ("accounts/market", shop.market_ids),
            "method": ("shipping/shippingmethod", [shop.method_id]),
            "zone": ("shipping/shippingzone", [shop.zone_id]),
            "location": ("inventory/location", shop.location_ids),
            "tax_rate": ("taxes/taxrate", [shop.tax_rate_id]),
            "customer": ("customers/customer", shop.customer_ids),
        }
        path, ids = paths[kind]
        return f"{path}/{any_of(ids, index)}/change/"

    def _confirm(self, shop: Stall, path: str, **fields: Any) -> HttpResponse:
        return self._use(shop, lambda staff: staff.confirm(path, **fields))

    def _use(self, shop: Stall, ask: Callable[[StaffClient], HttpResponse]) -> HttpResponse:
        """Send a request. A page is shown, a form is saved or shown again, unless the shop is closed."""
        if shop.staff is None:
            shop.staff = make_staff(shop.shop)
        staff = shop.staff
        with self.mortality.life():
            self.tally.requests += 1
            answer = ask(staff)
        assert answer.status_code in (200, 302, 403, 404), answer.content
        return answer
