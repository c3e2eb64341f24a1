"""Resolves the key of a request, checks its limits and scopes, and runs the request inside its scope."""

import logging
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

from django.db import DatabaseError, InterfaceError, transaction
from django.http import HttpRequest, HttpResponse

from accounts import authentication
from accounts.authentication import Grant
from commerce.client_address import client_address
from commerce.errors import BodyTooLarge, InsufficientScope, RateLimited, Refusal, Unauthenticated
from commerce.rest import guessing, idempotency, limits
from commerce.rest.errors import IdempotencyKeyRequired
from commerce.rest.problems import as_refusal, refusal_response
from commerce.rest.requests import ApiRequest
from commerce.rest.unknown_fields import add_field_headers
from commerce.rest.versioning import old_name
from commerce.rest.views import StorefrontViewSet, SurfaceViewSet, find_accepted_fields, scopes_of
from commerce.sizes import MAX_BODY_BYTES
from commerce.tenancy.scope import ScopeOpener, account_scope, workspace_scope
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
        # Here rather than in process_view, so that answers of unknown URLs have the header too.
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
            # A constraint that has the meaning of a refusal, or a database that is away. Anything else is a bug.
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
        # The front has refused larger bodies already, but Django's development server runs without it.
        if _read_content_length(request) > MAX_BODY_BYTES:
            raise BodyTooLarge
        grant = self._admit(request, view_class, handle, kwargs.get("token"))
        # The view answers HEAD like GET.
        method = "get" if request.method == "HEAD" else str(request.method).lower()
        action = view.actions.get(method, "")
        scopes = scopes_of(view_class, action, request.method or "")
        if scopes and not any(map(grant.principal.may, scopes)):
            raise InsufficientScope.of(scopes[0])
        request.principal = grant.principal
        request.open_scope = _choose_scope(grant, view_class)
        respond = partial(_answer, request, view_class, action, partial(view, request, **kwargs))
        response = guessing.limit_guesses(request, view_class, action, respond, token=kwargs.get("token"))
        aftermath = getattr(response, "aftermath", None)
        if aftermath is not None:
            # It writes what has to stay although the refusal has rolled the request's transaction back.
            try:
                with request.open_scope():
                    aftermath()
            except Exception:
                # The refusal is still the right answer.
                logger.exception("The aftermath of a refusal failed")
        return response

    def _admit(
        self, request: ApiRequest, view_class: type[SurfaceViewSet], handle: str | None, token: str | None
    ) -> Grant:
        """Resolve the request's key, and count the request against its limits. Raises if either refuses."""
        surface = view_class.surface
        secret = authentication.read_secret(request.META, surface)
        if not secret:
            raise Unauthenticated
        address = client_address(request)
        grant = authentication.authenticate(secret, surface=surface, handle=handle, address=address)
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
        # The version was read in the round trip that counted the request, so it costs nothing extra (decision 0003).
        return authentication.refresh_grant(grant, secret, surface=surface, handle=handle, version=version)


def _read_content_length(request: HttpRequest) -> int:
    # Text that isn't a number counts as 0, as in Django's own request.
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _choose_scope(grant: Grant, view_class: type[SurfaceViewSet]) -> ScopeOpener:
    """Choose the scope to run the request in. Raises if the grant doesn't allow it."""
    if view_class.binding == "reference":
        # Durable: it raises if a transaction is already open, as an account's scope does.
        return partial(transaction.atomic, durable=True)
    if view_class.binding == "workspace":
        return partial(workspace_scope, authentication.require_workspace(grant))
    account_id = authentication.require_account(grant, outlives_archiving=view_class.outlives_archiving)
    # A workspace key also sees the workspace's own rows, such as its keys.
    is_workspace_key = grant.principal.kind == "workspace"
    workspace_id = grant.principal.workspace_id if is_workspace_key else None
    return partial(account_scope, account_id, workspace_id=workspace_id)


def _answer(
    request: ApiRequest, view_class: type[SurfaceViewSet], action: str, respond: Callable[[], HttpResponse]
) -> HttpResponse:
    """Run the view once for each Idempotency-Key, in one scope, or in those that the action opens itself."""
    key = idempotency.key_of(request) if request.method == "POST" else None
    if key is None and action in view_class.idempotent_actions:
        raise IdempotencyKeyRequired
    token_field = None
    if key is not None and issubclass(view_class, StorefrontViewSet):
        token_field = _name_token_field(request, view_class, action)
        path = request.resolver_match.kwargs if request.resolver_match else {}
        # None if the answer isn't stored. All shoppers of a shop share its key, so the token tells them apart.
        key = idempotency.shoppers_key(request, key, token=path.get("token"), secret_field=token_field)
    is_unscoped = action in view_class.unscoped_actions
    knows_keys = action in view_class.key_knowing_actions
    run = respond
    if knows_keys and not is_unscoped:
        # Needs no record of its own: the rows that it locks make repetitions wait.
        request.body_hash = idempotency.hash_body(request)
    elif key is not None:
        record = idempotency.Record(
            surface=view_class.surface, key=key, hidden=view_class.secret_fields, token_field=token_field
        )
        if is_unscoped:
            answer_once = partial(idempotency.answer_once_across_scopes, knows_keys=knows_keys)
            run = partial(answer_once, request, record, respond)
        else:
            run = partial(idempotency.answer_once, request, record, respond)
    # An action that calls another service opens its scopes around the call: no transaction is open during it.
    with nullcontext() if is_unscoped else request.open_scope():
        response = run()
    accepted = find_accepted_fields(view_class, action)
    if accepted is not None and "Idempotent-Replayed" in response:
        # The view, which adds the headers for unknown fields, hasn't run.
        add_field_headers(request, accepted, response)
    return response


def _name_token_field(request: ApiRequest, view_class: type[StorefrontViewSet], action: str) -> str | None:
    """Return what the request's version calls the field of the body that only the shopper knows, if there is one."""
    field = view_class.shopper_fields.get(action)
    accepted = find_accepted_fields(view_class, action)
    if field and accepted and accepted.body:
        field = old_name(accepted.body, field, request.api_version)
    return field
