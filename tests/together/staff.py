"""Staff change customers, settings, keys and the shop itself while it sells."""

from dataclasses import replace
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st

from accounts.models import Account
from accounts.operations import set_suspended
from commerce.tenancy.scope import workspace_scope
from tests.clients import ADMIN_ROOT, ApiClient
from tests.together.changes import SETTINGS
from tests.together.deaths import Killed
from tests.together.fair import INDEXES, STALLS, act
from tests.together.merchants import Merchants
from tests.together.stalls import Stall, any_of


class Staff(Merchants):
    @act(stall=STALLS, email=st.sampled_from(["ada@example.com", "bob@example.com"]), is_vip=st.booleans())
    def create_customer(self, stall: int, email: str, is_vip: bool) -> None:
        shop = self.stall(stall)
        body = {"email": email, "first_name": shop.secret, "tags": ["vip"] if is_vip else []}
        answer = self._manage(shop, "POST", "customers.json", body)
        if answer.status_code == 201:
            shop.customer_ids.append(int(answer.json()["customer"]["id"]))

    @act(
        stall=STALLS,
        index=INDEXES,
        changes=st.sampled_from([{"tags": ["vip"]}, {"tags": []}, {"email": "eve@example.com"}]),
    )
    def change_customer(self, stall: int, index: int, changes: dict[str, Any]) -> None:
        shop = self.stall(stall)
        self._manage(shop, "PUT", f"customers/{any_of(shop.customer_ids, index)}.json", changes)

    @act(stall=STALLS, index=INDEXES)
    def redact_customer(self, stall: int, index: int) -> None:
        """Redact a customer, perhaps a guest created by an order."""
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

    @act(stall=STALLS, changes=SETTINGS)
    def change_settings(self, stall: int, changes: dict[str, Any]) -> None:
        self._manage(self.stall(stall), "PUT", "settings.json", {"settings": changes})

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
            # The secret is lost together with the answer.
            self._take_key(shop, shop.shop.issue("storefront"))
            raise
        if rotated.status_code == 201 and rotated.json()["api_key"]["secret"]:
            self._take_key(shop, rotated.json()["api_key"]["secret"])

    @act(stall=STALLS, kind=st.sampled_from(["storefront", "admin"]))
    def issue_key(self, stall: int, kind: str) -> None:
        """Issue a key. Shoppers use a new storefront key from now on."""
        shop = self.stall(stall)
        body = {"kind": kind, "name": shop.secret, "scopes": ["write_orders"] if kind == "admin" else None}
        answer = self._manage(shop, "POST", "api_keys.json", body)
        if answer.status_code == 201 and kind == "storefront" and answer.json()["api_key"]["secret"]:
            self._take_key(shop, answer.json()["api_key"]["secret"])

    @act(stall=STALLS, index=INDEXES)
    def revoke_key(self, stall: int, index: int) -> None:
        """Revoke the key of an app, or the one that shoppers use."""
        shop = self.stall(stall)
        answer = self._manage(shop, "GET", "api_keys.json")
        listed = answer.json()["api_keys"] if answer.status_code == 200 else []
        # Not the workspace's key, which the state machine needs.
        if keys := [key for key in listed if key["kind"] != "workspace"]:
            try:
                self._manage(shop, "DELETE", f"api_keys/{any_of(keys, index)['id']}.json")
            finally:
                self._take_key(shop, shop.shop.issue("storefront"))

    @act(stall=STALLS, is_suspended=st.booleans())
    def suspend_account(self, stall: int, is_suspended: bool) -> None:
        self._suspend(self.stall(stall), is_suspended)

    @act(stall=st.sampled_from([2, 1, 0]))
    def archive_account(self, stall: int) -> None:
        shop = self.stall(stall)
        # One shop stays open, or nothing more would happen.
        if sum(other.is_archived for other in self.stalls) < len(self.stalls) - 1:
            shop.is_archived = True
            path = f"{ADMIN_ROOT}accounts/{shop.shop.handle}.json"
            assert self.send(shop, shop.shop.workspace, "DELETE", path).status_code == 200

    def _take_key(self, shop: Stall, secret: str) -> None:
        shop.shop = replace(shop.shop, storefront=ApiClient.storefront(secret))

    def _suspend(self, shop: Stall, is_suspended: bool) -> None:
        def suspend() -> None:
            with workspace_scope(shop.shop.workspace_id):
                account = Account.objects.get(pk=shop.shop.id)
                set_suspended(account_id=account.pk, suspended=is_suspended, now=timezone.now())

        shop.is_suspended = shop.is_suspended or is_suspended
        self.work(suspend)
        shop.is_suspended = is_suspended
