"""Merchants change markets, segments, taxes and the account itself."""

from typing import Any

from hypothesis import strategies as st

from tests.clients import ADMIN_ROOT
from tests.together.changes import (
    ACCOUNT_CHANGES,
    FILTERS,
    MARKET_CHANGES,
    METHOD_CHANGES,
    NEW_MARKETS,
    REFUSED,
)
from tests.together.fair import INDEXES, STALLS, act
from tests.together.merchants import Merchants
from tests.together.stalls import any_of


class Markets(Merchants):
    @act(stall=STALLS, fields=NEW_MARKETS, cents=st.sampled_from([999, 25_000]))
    def open_market(self, stall: int, fields: dict[str, Any], cents: int) -> None:
        """Open a market with a price for everything and a shipping rate in its currency."""
        shop = self.stall(stall)
        body = {"handle": f"market-{next(self.numbers)}", "name": shop.secret} | fields
        answer = self._manage(shop, "POST", "markets.json", body)
        if answer.status_code != 201:
            return
        market_id = int(answer.json()["market"]["id"])
        shop.market_ids.append(market_id)
        for variant_id in shop.variant_ids:
            path = f"variants/{variant_id}/pricing/{market_id}.json"
            self._manage(shop, "PUT", path, {"price_cents": cents})
        if fields["currency"] != "EUR":
            rate = {"price_cents": 9900, "currency": fields["currency"]}
            made = self._manage(shop, "POST", f"shipping/methods/{shop.method_id}/rates.json", rate)
            if made.status_code == 201:
                shop.foreign_rate_ids.append(int(made.json()["rate"]["id"]))

    @act(stall=STALLS, index=INDEXES, changes=MARKET_CHANGES)
    def change_market(self, stall: int, index: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        self._manage(shop, "PUT", f"markets/{any_of(shop.market_ids, index)}.json", changes)

    @act(stall=STALLS, index=INDEXES)
    def close_market(self, stall: int, index: int) -> None:
        shop = self.stall(stall)
        self._manage(shop, "DELETE", f"markets/{any_of(shop.market_ids, index)}.json")

    @act(stall=STALLS, rate_bp=st.sampled_from([0, 700, 1900, 10_000]))
    def change_tax(self, stall: int, rate_bp: int) -> None:
        shop = self.stall(stall)
        body = {"country_code": "DE", "rate_bp": rate_bp}
        self._manage(shop, "PUT", f"tax_rates/{shop.tax_rate_id}.json", body)

    @act(stall=STALLS, country=st.sampled_from(["DE", "AT"]), rate_bp=st.sampled_from([700, 2000]))
    def replace_tax(self, stall: int, country: str, rate_bp: int) -> None:
        shop = self.stall(stall)
        self._manage(shop, "DELETE", f"tax_rates/{shop.tax_rate_id}.json")
        answer = self._manage(shop, "POST", "tax_rates.json", {"country_code": country, "rate_bp": rate_bp})
        if answer.status_code == 201:
            shop.tax_rate_id = int(answer.json()["tax_rate"]["id"])

    @act(stall=STALLS, index=INDEXES, which=FILTERS, how=st.sampled_from(["create", "change", "delete"]))
    def change_segments(self, stall: int, index: int, which: dict[str, Any], how: str) -> None:
        shop = self.stall(stall)
        if how == "create":
            body = {"handle": f"segment-{next(self.numbers)}", "name": shop.secret, "filter": which}
            answer = self._manage(shop, "POST", "segments.json", body)
            if answer.status_code == 201:
                shop.segment_ids.append(int(answer.json()["segment"]["id"]))
        elif shop.segment_ids:
            path = f"segments/{any_of(shop.segment_ids, index)}.json"
            if how == "change":
                self._manage(shop, "PUT", path, {"filter": which})
            else:
                self._manage(shop, "DELETE", path)

    @act(stall=STALLS, index=INDEXES, segment=INDEXES)
    def limit_discount_to_segment(self, stall: int, index: int, segment: int) -> None:
        shop = self.stall(stall)
        if shop.segment_ids:
            path = f"discounts/{any_of(shop.discount_ids, index)}.json"
            body = {
                "customer_eligibility": "segments",
                "segment_ids": [any_of(shop.segment_ids, segment)],
            }
            self._manage(shop, "PUT", path, body)

    @act(stall=STALLS, changes=METHOD_CHANGES)
    def change_method(self, stall: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        self._manage(shop, "PUT", f"shipping/methods/{shop.method_id}.json", changes)

    @act(stall=STALLS, changes=ACCOUNT_CHANGES, is_stale=st.booleans())
    def change_account(self, stall: int, changes: dict[str, Any], is_stale: bool) -> None:
        shop = self.stall(stall)
        path = f"{ADMIN_ROOT}accounts/{shop.shop.handle}.json"
        shown = self.send(shop, shop.shop.workspace, "GET", path).json()["account"]
        body = changes | {"expected_version": shown["version"] - is_stale}
        answer = self.send(shop, shop.shop.workspace, "PUT", path, body)
        assert answer.status_code in {200, *REFUSED}
        assert not (is_stale and answer.status_code == 200)
