from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import operations, queries
from accounts.models import Account, ApiKey, Market
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, many, one
from commerce.rest.views import AdminViewSet

from . import serializers as shapes


class AccountsViewSet(AdminViewSet):
    """The accounts of the caller's workspace; for workspace keys only."""

    binding = "workspace"
    area = "accounts"

    @answers(
        many("accounts", shapes.AccountOutput),
        parameters=[*PAGE_PARAMETERS, shapes.AccountFilter],
    )
    def list(self, request: Request) -> Response:
        accounts = queries.workspace_accounts(**self.valid_query(shapes.AccountFilter))
        return Response(newest_first(accounts, self.cursor).answer("accounts", _shape_account))

    @answers(one("account", shapes.AccountOutput), request=shapes.AccountInput, status=201)
    def create(self, request: Request) -> Response:
        fields = self.valid(shapes.AccountInput)
        account = operations.create_account(workspace_id=self.principal.workspace_id, fields=fields)
        return Response({"account": _shape_account(account)}, status=201)

    @answers(one("account", shapes.AccountOutput))
    def retrieve(self, request: Request, id_or_handle: str) -> Response:
        return Response({"account": _shape_account(queries.get_account(id_or_handle))})

    @answers(one("account", shapes.AccountOutput), request=shapes.AccountUpdate)
    def update(self, request: Request, id_or_handle: str) -> Response:
        account = queries.get_account(id_or_handle)
        changes = self.valid(shapes.AccountUpdate)
        expected_version = changes.pop("expected_version")
        account = operations.update_account(
            account=account, expected_version=expected_version, changes=changes, now=timezone.now()
        )
        return Response({"account": _shape_account(account)})

    @answers(one("account", shapes.AccountOutput))
    def destroy(self, request: Request, id_or_handle: str) -> Response:
        account = operations.archive_account(account=queries.get_account(id_or_handle), now=timezone.now())
        return Response({"account": _shape_account(account)})


class MarketsViewSet(AdminViewSet):
    area = "markets"

    @answers(many("markets", shapes.MarketOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        page = newest_first(queries.markets(), self.cursor)
        return Response(page.answer("markets", _shape_market))

    @answers(one("market", shapes.MarketOutput), request=shapes.MarketInput, status=201)
    def create(self, request: Request) -> Response:
        market = operations.create_market(fields=self.valid(shapes.MarketInput))
        return Response({"market": _shape_market(market)}, status=201)

    @answers(one("market", shapes.MarketOutput))
    def retrieve(self, request: Request, market_id: int) -> Response:
        return Response({"market": _shape_market(queries.get_market(market_id))})

    @answers(one("market", shapes.MarketOutput), request=shapes.MarketChanges, partial=True)
    def update(self, request: Request, market_id: int) -> Response:
        market = queries.get_market(market_id)
        changes = self.valid(shapes.MarketChanges, partial=True)
        return Response({"market": _shape_market(operations.update_market(market=market, changes=changes))})

    @answers(one("market", shapes.MarketOutput))
    def destroy(self, request: Request, market_id: int) -> Response:
        market = operations.deactivate_market(market=queries.get_market(market_id), now=timezone.now())
        return Response({"market": _shape_market(market)})


class ApiKeysViewSet(AdminViewSet):
    area = "api_keys"
    # Null in an answer that is stored and replayed (decision 0004).
    secret_fields = ("secret",)

    @answers(many("api_keys", shapes.ApiKeyOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request) -> Response:
        return Response(newest_first(queries.account_keys(), self.cursor).answer("api_keys", _shape_key))

    @answers(one("api_key", shapes.IssuedKeyOutput), request=shapes.ApiKeyInput, status=201)
    def create(self, request: Request) -> Response:
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

    @answers(one("api_key", shapes.IssuedKeyOutput), request=shapes.RotationInput, status=201)
    def rotate(self, request: Request, key_id: int) -> Response:
        grace_seconds = self.valid(shapes.RotationInput)["grace_seconds"]
        key = queries.get_key(key_id)
        issued = operations.rotate_key(
            issuer=self._issuer, key=key, grace_seconds=grace_seconds, now=timezone.now()
        )
        return Response({"api_key": _shape_issued_key(issued)}, status=201)

    @answers(one("api_key", shapes.ApiKeyOutput))
    def destroy(self, request: Request, key_id: int) -> Response:
        key = queries.get_key(key_id)
        key = operations.revoke_key(issuer=self._issuer, key=key, now=timezone.now())
        return Response({"api_key": _shape_key(key)})

    @property
    def _issuer(self) -> operations.Issuer:
        return operations.Issuer(self.principal.kind, self.principal.key_id)


def _shape_account(account: Account) -> dict[str, object]:
    return shapes.AccountOutput(account).data


def _shape_market(market: Market) -> dict[str, object]:
    return shapes.MarketOutput(market).data


def _shape_key(key: ApiKey) -> dict[str, object]:
    return shapes.ApiKeyOutput(key).data


def _shape_issued_key(issued: operations.IssuedKey) -> dict[str, object]:
    return _shape_key(issued.key) | {"secret": issued.secret}
