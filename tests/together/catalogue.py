"""Merchants change goods and shipping methods that shoppers have already chosen."""

from typing import Any

from hypothesis import strategies as st

from tests.together.changes import VARIANT_CHANGES
from tests.together.fair import INDEXES, STALLS, act
from tests.together.merchants import Merchants
from tests.together.stalls import any_of


class Catalogue(Merchants):
    @act(stall=STALLS, cents=st.sampled_from([999, 1]), units=st.integers(1, 3))
    def create_product(self, stall: int, cents: int, units: int) -> None:
        """Create a product with a variant in stock."""
        shop = self.stall(stall)
        number = next(self.numbers)
        pricing = [{"market_id": shop.shop.market.pk, "price_cents": cents}]
        variants = [{"sku": f"new-{number}", "pricing": pricing}]
        body = {"handle": f"new-{number}", "title": shop.secret, "status": "active", "variants": variants}
        answer = self._manage(shop, "POST", "products.json", body)
        if answer.status_code == 201:
            variant_id = int(answer.json()["product"]["variants"][0]["id"])
            shop.variant_ids.append(variant_id)
            shop.opening.units[variant_id] = 0
            self._bring(shop, variant_id, any_of(shop.location_ids, 0), units)

    @act(stall=STALLS, index=INDEXES, cents=st.sampled_from([999, 1]))
    def create_variant(self, stall: int, index: int, cents: int) -> None:
        """Create a variant without stock, of a product that may be archived."""
        shop = self.stall(stall)
        variant = self._manage(shop, "GET", f"variants/{any_of(shop.variant_ids, index)}.json")
        if variant.status_code != 200:
            return
        path = f"products/{variant.json()['variant']['product_id']}/variants.json"
        pricing = [{"market_id": shop.shop.market.pk, "price_cents": cents}]
        body = {"sku": f"new-{next(self.numbers)}", "pricing": pricing}
        answer = self._manage(shop, "POST", path, body)
        if answer.status_code == 201:
            shop.variant_ids.append(int(answer.json()["variant"]["id"]))

    @act(stall=STALLS, index=INDEXES, changes=VARIANT_CHANGES)
    def change_variant(self, stall: int, index: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        variant_id = any_of(shop.variant_ids, index)
        if changes.keys() & {"track_inventory", "allow_backorder"}:
            shop.opening.retracked.add(variant_id)
        self._manage(shop, "PUT", f"variants/{variant_id}.json", changes)

    @act(stall=STALLS, index=INDEXES, is_whole_product=st.booleans())
    def archive_variant(self, stall: int, index: int, is_whole_product: bool) -> None:
        """Archive a variant, alone or with its product, as long as there is another."""
        shop = self.stall(stall)
        if len(shop.variant_ids) < 2:
            return
        variant_id = shop.variant_ids.pop(index % len(shop.variant_ids))
        variant = self._manage(shop, "GET", f"variants/{variant_id}.json")
        if is_whole_product and variant.status_code == 200:
            self._manage(shop, "DELETE", f"products/{variant.json()['variant']['product_id']}.json")
        else:
            self._manage(shop, "DELETE", f"variants/{variant_id}.json")

    @act(stall=STALLS, is_deleted=st.booleans())
    def replace_zone(self, stall: int, is_deleted: bool) -> None:
        """Replace a zone: its method moves to the new one, unless it is too late for that."""
        shop = self.stall(stall)
        if is_deleted:
            self._manage(shop, "DELETE", f"shipping/zones/{shop.zone_id}.json")
        handle = f"zone-{next(self.numbers)}"
        body = {"handle": handle, "name": shop.secret, "country_codes": ["DE"]}
        answer = self._manage(shop, "POST", "shipping/zones.json", body)
        if answer.status_code == 201:
            shop.zone_id = int(answer.json()["zone"]["id"])
            path = f"shipping/methods/{shop.method_id}.json"
            self._manage(shop, "PUT", path, {"zone_id": shop.zone_id})
