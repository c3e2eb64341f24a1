"""Resolves the key of a request, checks its limits and scopes, and runs the request inside its scope."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.db import DatabaseError, InterfaceError, transaction
from django.http import HttpRequest, HttpResponse

from accounts import authentication
from accounts.authentication import Grant
from commerce.client_address import client_address
from commerce.errors import BodyTooLarge, InsufficientScope, RateLimited, Refusal
from commerce.rest import guessing, idempotency, limits
from commerce.rest.errors import IdempotencyKeyRequired
from commerce.rest.problems import as_refusal, refusal_response
from commerce.rest.requests import ApiRequest
from commerce.rest.unknown_fields import name_in_replay
from commerce.rest.versioning import old_name
from commerce.rest.views import StorefrontViewSet, SurfaceViewSet, scopes_of, takes_of
from commerce.sizes import MAX_BODY_BYTES
from commerce.tenancy.scope import account_scope, workspace_scope
from commerce.versions import version_of_path

logger = logging.getLogger(__name__)

_SURFACES = ("/admin/", "/storefront/")


class AccountScopeMiddleware:
    """Binds every request of the two surfaces to its account, in the ORM and in the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: ApiRequest) -> HttpResponse:
        if not request.path_info.startswith(_SURFACES):
            return self.get_response(request)
        version = request.api_version = version_of_path(request.path_info)
        response = self.get_response(request)
        response["X-Api-Version"] = version.name
        return response

    def process_view(
        self, request: ApiRequest, view: Any, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> HttpResponse | None:
        view_class = getattr(view, "cls", None)
        if not (isinstance(view_class, type) and issubclass(view_class, SurfaceViewSet)):
            return None
        request.rate_limit_headers = {}
        try:
            response = self._serve(request, view, view_class, kwargs)
        except (Refusal, DatabaseError, InterfaceError) as error:
            refusal = as_refusal(error)
            if refusal is None:
                raise
            response = refusal_response(refusal, request)
        for name, value in request.rate_limit_headers.items():
            response[name] = value
        return response

    def _serve(
        self, request: ApiRequest, view: Any, view_class: type[SurfaceViewSet], kwargs: dict[str, Any]
    ) -> HttpResponse:
        handle = kwargs.pop("handle", None)
        if _content_length(request) > MAX_BODY_BYTES:
            raise BodyTooLarge
        grant = self._admit(request, view_class, handle, kwargs.get("token"))
        # The view answers HEAD like GET.
        method = "get" if request.method == "HEAD" else str(request.method).lower()
        action = view.actions.get(method, "")
        _require_scope(grant, view_class, action, request.method or "")
        request.principal = grant.principal
        request.open_scope = _scope_of(grant, view_class)
        respond = partial(_answer, request, view_class, action, partial(view, request, **kwargs))
        response = guessing.answer(request, view_class, action, respond, token=kwargs.get("token"))
        _run_aftermath(request, response)
        return response

    def _admit(
        self, request: ApiRequest, view_class: type[SurfaceViewSet], handle: str | None, token: str | None
    ) -> Grant:
        """Resolve the request's key, and count the request against its limits. Raises if either refuses."""
        surface = view_class.surface
        secret = authentication.secret_of(request, surface)
        address = client_address(request)
        grant = authentication.grant_for(secret, surface=surface, handle=handle, address=address)
        principal = grant.principal
        allowance, version = limits.count(
            limits.buckets_for(principal, token=token, address=address),
            version_name=authentication.version_name(principal.workspace_id),
            # Storefront requests are counted in batches, so they notice changed accounts and keys up to 0.1 s later.
            may_batch=surface == "storefront",
        )
        if allowance:
            request.rate_limit_headers = allowance.headers()
            if allowance.is_spent:
                raise RateLimited(allowance.reset_s)
        return authentication.refresh_grant(grant, secret, handle=handle, version=version)


def _content_length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _scope_of(grant: Grant, view_class: type[SurfaceViewSet]) -> Callable[[], AbstractContextManager[None]]:
    """Choose the scope to run the request in. Raises if the grant doesn't allow it."""
    if view_class.binding == "reference":
        return partial(transaction.atomic, durable=True)
    if view_class.binding == "workspace":
        return partial(workspace_scope, authentication.require_workspace(grant))
    account_id = authentication.require_account(grant, outlives_archiving=view_class.outlives_archiving)
    is_workspace_key = grant.principal.kind == "workspace"
    workspace_id = grant.principal.workspace_id if is_workspace_key else None
    return partial(account_scope, account_id, workspace_id=workspace_id)


def _run_aftermath(request: ApiRequest, response: HttpResponse) -> None:
    """Store what must outlive a refused request. If that fails, the refusal is still the answer."""
    aftermath = getattr(response, "aftermath", None)
    if aftermath is None:
        return
    try:
        with request.open_scope():
            aftermath()
    except Exception:
        logger.exception("The aftermath of a refusal failed")


def _require_scope(grant: Grant, view_class: type[SurfaceViewSet], action: str, method: str) -> None:
    scopes = scopes_of(view_class, action, method)
    if scopes and not any(map(grant.principal.may, scopes)):
        raise InsufficientScope.of(scopes[0])


def _answer(
    request: ApiRequest, view_class: type[SurfaceViewSet], action: str, respond: Callable[[], HttpResponse]
) -> HttpResponse:
    """Run the view once for each Idempotency-Key, in one scope, or in those that the action opens itself."""
    key = idempotency.key_of(request) if request.method == "POST" else None
    if key is None and action in view_class.idempotent_actions:
        raise IdempotencyKeyRequired
    token_field = None
    if key is not None and issubclass(view_class, StorefrontViewSet):
        token_field = _token_field(request, view_class, action)
        key = _shoppers_key(request, key, token_field)
    answer_once: Callable[..., HttpResponse]
    if action in view_class.unscoped_actions:
        answer_once = partial(
            idempotency.answer_once_across_scopes,
            token_field=token_field,
            knows_keys=action in view_class.key_knowing_actions,
        )
        response = _once(answer_once, request, view_class, key, respond)
    else:
        answer_once = partial(idempotency.answer_once, token_field=token_field)
        with request.open_scope():
            response = _once(answer_once, request, view_class, key, respond)
    takes = takes_of(view_class, action)
    if takes is not None and "Idempotent-Replayed" in response:
        name_in_replay(request, takes, response)
    return response


def _shoppers_key(request: ApiRequest, key: str, token_field: str | None) -> str | None:
    """The key for the record of a shopper's request; None if it isn't stored."""
    path = request.resolver_match.kwargs if request.resolver_match else {}
    return idempotency.shoppers_key(request, key, token=path.get("token"), secret_field=token_field)


def _token_field(request: ApiRequest, view_class: type[StorefrontViewSet], action: str) -> str | None:
    """What the field of the body that only the shopper knows is called in the request's version, if there is one."""
    field = view_class.shopper_fields.get(action)
    takes = takes_of(view_class, action)
    if field and takes and takes.body:
        field = old_name(takes.body, field, request.api_version)
    return field


def _once(
    answer_once: Callable[..., HttpResponse],
    request: ApiRequest,
    view_class: type[SurfaceViewSet],
    key: str | None,
    respond: Callable[[], HttpResponse],
) -> HttpResponse:
    if key is None:
        return respond()
    return answer_once(
        request, surface=view_class.surface, key=key, hidden=view_class.secret_fields, respond=respond
    )
