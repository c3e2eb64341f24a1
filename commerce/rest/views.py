"""The base classes of the two surfaces. The middleware handles keys, scopes, limits and the transaction."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, Literal, cast

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from commerce.paging import Cursor
from commerce.principal import Principal
from commerce.tenancy.statements import planning_anew
from commerce.versions import ApiVersion, Json

from .errors import UnknownField
from .exceptions import as_refusal
from .negotiation import Negotiation
from .rendering import JSONObjectParser, JSONRenderer, ProblemRenderer
from .requests import ApiRequest
from .unknown_fields import AcceptedFields, check_fields
from .versioning import downgrade_answer, old_path, upgrade_body

Access = Literal["read", "write"]


_NEGOTIATION = Negotiation()
_RENDERERS: list[BaseRenderer] = [JSONRenderer(), ProblemRenderer()]
_PARSERS: list[BaseParser] = [JSONObjectParser()]


class SurfaceViewSet(ViewSet):
    """Validate the input, call one operation or query, shape the answer."""

    surface: ClassVar[Literal["admin", "storefront"]]
    # What a request may reach: one account, the key's workspace, or public reference data.
    binding: ClassVar[Literal["account", "workspace", "reference"]] = "account"
    # Whether workspace keys may use it in an archived account, while money of it is outstanding.
    outlives_archiving: ClassVar[bool] = False
    # The area of scopes that it needs.
    area: ClassVar[str] = ""
    # Areas whose keys are also let in. The actions then check what the key may do with each row.
    further_areas: ClassVar[tuple[str, ...]] = ()
    # POST actions that change nothing, such as a preview: a scope for reading is enough.
    reading_actions: ClassVar[tuple[str, ...]] = ()
    # Actions that require an Idempotency-Key, and fields that must not be stored with an answer.
    idempotent_actions: ClassVar[tuple[str, ...]] = ()
    secret_fields: ClassVar[tuple[str, ...]] = ()
    # Actions that call an outside service and therefore open their own transactions before and after the call.
    unscoped_actions: ClassVar[tuple[str, ...]] = ()
    # Actions that keep their Idempotency-Keys themselves. A repeated request runs again, and its answer shows the state
    # at that time.
    key_knowing_actions: ClassVar[tuple[str, ...]] = ()
    # Actions that take a code which could be guessed, and the refusal that means it was wrong.
    guessed_codes: ClassVar[dict[str, str]] = {}

    # The middleware does all this before it opens a transaction.
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    # One instance of each serves all requests, since they have no state.
    renderer_classes = (JSONRenderer, ProblemRenderer)
    parser_classes = (JSONObjectParser,)
    # No OPTIONS: preflights are answered by `CorsMiddleware`.
    metadata_class = None
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    def get_content_negotiator(self) -> Negotiation:
        return _NEGOTIATION

    def get_renderers(self) -> list[BaseRenderer]:
        return _RENDERERS

    def get_parsers(self) -> list[BaseParser]:
        return _PARSERS

    def perform_authentication(self, request: Request) -> None:
        """Do nothing: the middleware has already authenticated, authorised and limited the request."""

    check_permissions = check_throttles = perform_authentication

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {"Allow": _list_methods(tuple(self.action_map))}

    def finalize_response(
        self, request: Request, response: Response, *args: object, **kwargs: object
    ) -> Response:
        # Set here, because DRF would split and join the header for its only value.
        response.headers["Vary"] = "Accept"
        return super().finalize_response(request, response, *args, **kwargs)

    def answer(self, data: object, *, status: int = 200) -> HttpResponse:
        """Answer with JSON in the request's version. It takes a third of the time of DRF's `Response`."""
        content = orjson.dumps(self.downgrade(data) if self.api_version.later_changes else data)
        return HttpResponse(content, status=status, content_type=JSONRenderer.media_type)

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        # Refuse an unreadable body even if the action doesn't use it.
        body: Any = request.data if self._api_request.method in {"POST", "PUT", "PATCH"} else {}
        accepted = find_accepted_fields(type(self), self.action)
        if accepted is not None:
            self.headers |= check_fields(self._api_request, accepted, body)

    @property
    def _api_request(self) -> ApiRequest:
        return cast("ApiRequest", self.request._request)  # noqa: SLF001  what DRF has wrapped

    def handle_exception(self, exc: Exception) -> Response:
        refusal = as_refusal(exc) if self.api_version.later_changes else None
        if refusal is None:
            return super().handle_exception(exc)
        accepted = find_accepted_fields(type(self), self.action)
        # Unknown fields have the names that the client sent.
        if accepted is not None and not isinstance(refusal, UnknownField):
            refusal.errors = tuple(
                replace(error, field=old_path(accepted.body, error.field, self.api_version))
                for error in refusal.errors
            )
        return super().handle_exception(refusal)

    @property
    def api_version(self) -> ApiVersion:
        return self._api_request.api_version

    def downgrade(self, answer: object) -> object:
        """An answer of the action in the request's version."""
        schema = getattr(getattr(self, self.action), "answer_schema", None)
        return downgrade_answer(answer, schema, self.api_version)

    @property
    def principal(self) -> Principal:
        return self._api_request.principal

    def scope(self) -> AbstractContextManager[None]:
        """A transaction with the request's scope, for `unscoped_actions`, which may open several."""
        return self._api_request.open_scope()

    @property
    def opens_own_scopes(self) -> bool:
        return self.action in self.unscoped_actions

    def valid(
        self, serializer_class: type[serializers.Serializer], *, partial: bool = False
    ) -> dict[str, Any]:
        """The body, validated; raises DRF's ValidationError, which becomes 422 `validation_failed`."""
        body = self.request.data
        if self.api_version.later_changes:
            # The parser takes nothing but objects.
            body = upgrade_body(cast("Json", body), serializer_class, self.api_version)
        return make_validator(serializer_class, partial).run_validation(body)

    def valid_query(self, serializer_class: type[serializers.Serializer]) -> dict[str, Any]:
        """The validated query string, without filters that were not given."""
        return make_validator(serializer_class, False).run_validation(self.request.query_params.dict())

    @property
    def cursor(self) -> Cursor:
        return Cursor.from_query(self.request.query_params)


class AdminViewSet(SurfaceViewSet):
    surface = "admin"

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        # Filters differ, and shops have few rows or a million of a kind, so a plan for any values may read all rows.
        # Planning takes a twentieth of a list's instructions.
        is_list = request.method in {"GET", "HEAD"} and _has_pages(type(self), self.action_map.get("get"))
        with planning_anew() if is_list else nullcontext():
            return super().dispatch(request, *args, **kwargs)


class StorefrontViewSet(SurfaceViewSet):
    surface = "storefront"
    # For actions without a token in the path: the field of the body that only the shopper knows.
    shopper_fields: ClassVar[dict[str, str]] = {}


@cache
def make_validator(serializer_class: type[serializers.Serializer], partial: bool) -> serializers.Serializer:
    """Make the serializer that validates all requests. It keeps nothing of what it validates.

    A new one would copy all of its fields, for four times as long as validating a request takes.
    """
    return serializer_class(partial=partial)


def _has_pages(view_class: type[SurfaceViewSet], action: str | None) -> bool:
    accepted = find_accepted_fields(view_class, action)
    return accepted is not None and "limit" in accepted.query


@cache
def _list_methods(handled: tuple[str, ...]) -> str:
    """The value of `Allow` for a view that handles these methods."""
    names = {*handled, "head"} if "get" in handled else {*handled}
    return ", ".join(name.upper() for name in SurfaceViewSet.http_method_names if name in names)


def access_of(view_class: type[SurfaceViewSet], action: str, method: str) -> Access:
    return "read" if method in {"GET", "HEAD"} or action in view_class.reading_actions else "write"


def scopes_of(view_class: type[SurfaceViewSet], action: str, method: str) -> list[str]:
    """The scopes of which a key needs one; empty if any key may."""
    access = access_of(view_class, action, method)
    areas = (view_class.area, *view_class.further_areas)
    return [f"{access}_{area}" for area in areas if area]


def find_accepted_fields(view_class: type[SurfaceViewSet], action: str | None) -> AcceptedFields | None:
    """What an action accepts according to its `@answers`; None if there is no such action."""
    return getattr(getattr(view_class, action or "", None), "accepted", None)
