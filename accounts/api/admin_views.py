from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import operations, queries
from accounts.errors import DomainTaken, HandleTaken, MarketExists, VersionConflict
from accounts.models import ApiKey
from commerce.errors import InsufficientScope
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers as shapes


class AccountsViewSet(AdminViewSet):
    """Accounts are shops. A workspace owns any number of them, and nothing of one is visible to another.

    These operations take workspace keys.
    """

    binding = "workspace"
    area = "accounts"

    @answers(
        many("accounts", shapes.AccountOutput),
        parameters=[*PAGE_PARAMETERS, shapes.AccountFilter],
    )
    def list(self, request: Request) -> Response:
        """List the shops of the key's workspace.

        Archived shops are left out unless `include_archived` is `true`. Newest first.
        """
        accounts = queries.workspace_accounts(**self.valid_query(shapes.AccountFilter))
        return Response(newest_first(accounts, self.cursor).answer("accounts", shapes.AccountOutput.of))

    @answers(
        one("account", shapes.AccountOutput), request=shapes.AccountInput, status=201, refuses=(HandleTaken,)
    )
    def create(self, request: Request) -> Response:
        """Open a shop.

        The shop is open at once. It gets a first location for stock, `main`. Sell from it after adding a market,
        products with prices, and a shipping method. A handle belongs to one shop of the whole platform, for ever: a
        handle that any shop has or had is refused.
        """
        fields = self.valid(shapes.AccountInput)
        account = operations.create_account(workspace_id=self.principal.workspace_id, fields=fields)
        return Response({"account": shapes.AccountOutput.of(account)}, status=201)

    @answers(one("account", shapes.AccountOutput))
    def retrieve(self, request: Request, id_or_handle: str) -> Response:
        """Show a shop.

        An archived shop is still shown to its workspace.
        """
        return Response({"account": shapes.AccountOutput.of(queries.get_account(id_or_handle))})

    @answers(one("account", shapes.AccountOutput), request=shapes.AccountUpdate, refuses=(VersionConflict,))
    def update(self, request: Request, id_or_handle: str) -> Response:
        """Change a shop.

        Only the fields that are sent change. `expected_version` is the `version` that was read: if somebody has
        changed the shop since, the request is refused with the version that is stored now, and nothing changes. The
        handle can't change.
        """
        account = queries.get_account(id_or_handle)
        changes = self.valid(shapes.AccountUpdate)
        expected_version = changes.pop("expected_version")
        account = operations.update_account(
            account_id=account.pk, expected_version=expected_version, changes=changes, now=timezone.now()
        )
        return Response({"account": shapes.AccountOutput.of(account)})

    @answers(one("account", shapes.AccountOutput))
    def destroy(self, request: Request, id_or_handle: str) -> Response:
        """Archive a shop.

        Its keys stop working, its open checkouts end, and payments that arrive later are refunded. Nothing is
        deleted: its orders and refunds stay reachable with workspace keys while money is outstanding.
        Repeated, nothing changes.
        """
        account_id = queries.get_account(id_or_handle).pk
        account = operations.archive_account(account_id=account_id, now=timezone.now())
        return Response({"account": shapes.AccountOutput.of(account)})


class MarketsViewSet(AdminViewSet):
    """A market is where a shop sells: a country with its currency and language, and prices with or without tax."""

    area = "markets"

    @answers(many("markets", shapes.MarketOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List the shop's markets.

        Newest first, including inactive ones.
        """
        page = newest_first(queries.markets(), self.cursor)
        return Response(page.answer("markets", shapes.MarketOutput.of))

    @answers(
        one("market", shapes.MarketOutput),
        request=shapes.MarketInput,
        status=201,
        refuses=(HandleTaken, MarketExists, DomainTaken),
    )
    def create(self, request: Request) -> Response:
        """Add a market.

        Variants need a price of their own in each market: amounts are never converted. Two markets can't have the
        same currency, locale, country and domain.
        """
        market = operations.create_market(fields=self.valid(shapes.MarketInput))
        return Response({"market": shapes.MarketOutput.of(market)}, status=201)

    @answers(one("market", shapes.MarketOutput))
    def retrieve(self, request: Request, market_id: int) -> Response:
        """Show a market.

        Also an inactive one.
        """
        return Response({"market": shapes.MarketOutput.of(queries.get_market(market_id))})

    @answers(
        one("market", shapes.MarketOutput),
        request=shapes.MarketChanges,
        partial=True,
        refuses=(HandleTaken, MarketExists, DomainTaken),
    )
    def update(self, request: Request, market_id: int) -> Response:
        """Change a market.

        Only the fields that are sent change. Carts keep the currency, language and tax mode that their market had
        when they were created.
        """
        queries.get_market(market_id)
        changes = self.valid(shapes.MarketChanges, partial=True)
        market = operations.update_market(market_id=market_id, changes=changes)
        return Response({"market": shapes.MarketOutput.of(market)})

    @answers(one("market", shapes.MarketOutput))
    def destroy(self, request: Request, market_id: int) -> Response:
        """Close a market.

        Its status becomes `inactive`: no new carts and checkouts. Its orders stay. A PUT with `active` opens it
        again. Repeated, nothing changes.
        """
        market = operations.deactivate_market(market_id=market_id, now=timezone.now())
        return Response({"market": shapes.MarketOutput.of(market)})


class ApiKeysViewSet(AdminViewSet):
    """Keys of programs. An admin key belongs to one shop, a workspace key to all shops of its workspace; a storefront
    key is public and reaches nothing but what shoppers may see.

    Only a digest of a key is stored, so its secret is shown once.
    """

    area = "api_keys"
    # Null in an answer that is stored and replayed (decision 0004).
    secret_fields = ("secret",)

    @answers(many("api_keys", shapes.ApiKeyOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        """List the shop's keys.

        Without their secrets. With a workspace key, also the keys of the workspace itself. Newest first.
        """
        return Response(
            newest_first(queries.account_keys(), self.cursor).answer("api_keys", shapes.ApiKeyOutput.of)
        )

    @answers(
        one("api_key", shapes.IssuedKeyOutput),
        request=shapes.ApiKeyInput,
        status=201,
        refuses=(InsufficientScope,),
    )
    def create(self, request: Request) -> Response:
        """Issue a key.

        The answer has the key's secret, which can't be shown again; it is null if the answer is replayed. Nobody
        issues a key that may do more than their own, or that lasts longer: 403 `insufficient_scope`.
        """
        fields = self.valid(shapes.ApiKeyInput)
        is_workspace_key = fields["kind"] == ApiKey.Kind.WORKSPACE
        issued = operations.issue_key(
            issuer=self._issuer,
            now=timezone.now(),
            workspace_id=self.principal.workspace_id,
            account_id=None if is_workspace_key else self.principal.account_id,
            **fields,
        )
        return Response({"api_key": _shape_issued_key(issued)}, status=201)

    @answers(
        one("api_key", shapes.IssuedKeyOutput),
        request=shapes.RotationInput,
        status=201,
        refuses=(InsufficientScope,),
    )
    def rotate(self, request: Request, key_id: int) -> Response:
        """Replace a key by a new one.

        The answer is a new key with a new secret and the same scopes. The old one works until `grace_seconds` are
        over, so that programs can be moved without an interruption.
        """
        grace_seconds = self.valid(shapes.RotationInput)["grace_seconds"]
        # Of this handle, or of the workspace: the operation knows all keys of the workspace.
        queries.get_key(key_id)
        issued = operations.rotate_key(issuer=self._issuer, key_id=key_id, grace_seconds=grace_seconds)
        return Response({"api_key": _shape_issued_key(issued)}, status=201)

    @answers(one("api_key", shapes.ApiKeyOutput), refuses=(InsufficientScope,))
    def destroy(self, request: Request, key_id: int) -> Response:
        """Revoke a key.

        It stops working at once. Nobody revokes a key that may do more than their own. Repeated, nothing changes.
        """
        # As above.
        queries.get_key(key_id)
        key = operations.revoke_key(issuer=self._issuer, key_id=key_id, now=timezone.now())
        return Response({"api_key": shapes.ApiKeyOutput.of(key)})

    @property
    def _issuer(self) -> operations.Issuer:
        return operations.Issuer(self.principal.kind, self.principal.key_id)


def _shape_issued_key(issued: operations.IssuedKey) -> dict[str, object]:
    return shapes.ApiKeyOutput.of(issued.key) | {"secret": issued.secret}
