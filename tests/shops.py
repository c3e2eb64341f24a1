"""A shop for tests: a workspace, an account, a market with gross prices in EUR, and a key of each kind."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Account, Market
from accounts.operations import OPERATOR, bootstrap_workspace, create_account, create_market, issue_key
from commerce.tenancy.scope import account_scope, workspace_scope
from tests.clients import ApiClient

_numbers = count(1)


@dataclass(frozen=True)
class Shop:
    """`admin` and `storefront` are clients of this account, `workspace` is one of the whole workspace."""

    workspace_id: UUID
    id: int
    handle: str
    market: Market
    admin: ApiClient
    storefront: ApiClient
    workspace: ApiClient

    def scope(self) -> AbstractContextManager[None]:
        return account_scope(self.id)

    def client_with(self, *scopes: str, **fields: Any) -> ApiClient:
        """Return a client with a new admin key that has just these scopes."""
        return ApiClient.admin(self.issue("admin", scopes=list(scopes), **fields), self.handle)

    def issue(self, kind: str, **fields: Any) -> str:
        """Issue a key of this account or of its workspace, and return the secret."""
        with workspace_scope(self.workspace_id):
            return issue_key(
                issuer=OPERATOR,
                workspace_id=self.workspace_id,
                account_id=None if kind == "workspace" else self.id,
                kind=kind,
                name=f"Test {kind}",
                **{"now": timezone.now()} | fields,
            ).secret


def make_shop(*, handle: str | None = None, workspace_id: UUID | None = None, **market: Any) -> Shop:
    """Create a shop, in a new workspace unless one is given; `market` overrides fields of its market."""
    number = next(_numbers)
    workspace_id = workspace_id or bootstrap_workspace(name=f"Workspace {number}")[0].id
    account = _make_account(workspace_id, handle or f"shop-{number}")
    with account_scope(account.id):
        first_market = create_market(fields=_MARKET | market)
    secrets = _make_keys(account)
    return Shop(
        workspace_id=workspace_id,
        id=account.id,
        handle=account.handle,
        market=first_market,
        admin=ApiClient.admin(secrets["admin"], account.handle),
        storefront=ApiClient.storefront(secrets["storefront"]),
        workspace=ApiClient.admin(secrets["workspace"]),
    )


_MARKET = {
    "handle": "de",
    "name": "Germany",
    "currency": "EUR",
    "locale": "de-DE",
    "country_code": "DE",
    "prices_include_tax": True,
}


def _make_account(workspace_id: UUID, handle: str) -> Account:
    with workspace_scope(workspace_id):
        return create_account(
            workspace_id=workspace_id,
            fields={"handle": handle, "name": handle.title(), "default_currency": "EUR"},
        )


def _make_keys(account: Account) -> dict[str, str]:
    with workspace_scope(account.workspace_id):
        return {
            kind: issue_key(
                issuer=OPERATOR,
                now=timezone.now(),
                workspace_id=account.workspace_id,
                account_id=None if kind == "workspace" else account.id,
                kind=kind,
                name=f"Test {kind}",
            ).secret
            for kind in ("workspace", "admin", "storefront")
        }
