"""The base classes of the two surfaces. Keys, scopes, limits and the transaction are the middleware's work."""

from contextlib import AbstractContextManager
from typing import Any, ClassVar, Literal

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from .paging import Cursor
from .principal import Principal
from .rendering import JSONObjectParser, JSONRenderer, ProblemRenderer
from .unknown_fields import Takes, check_fields

Access = Literal["read", "write"]


class SurfaceViewSet(ViewSet):
    """Validate the input, call one operation or query, shape the answer."""

    surface: ClassVar[Literal["admin", "storefront"]]
    # What a request is bound to: one account, the key's workspace, or public reference data.
    binding: ClassVar[Literal["account", "workspace", "reference"]] = "account"
    # Whether workspace keys reach it in an archived account too, until all of its money is settled.
    outlives_archiving: ClassVar[bool] = False
    # The area of scopes that guards it, and the actions that only read although they are POSTs.
    area: ClassVar[str] = ""
    # Areas whose keys are let in as well: its actions look at what the key may do with each row.
    further_areas: ClassVar[tuple[str, ...]] = ()
    reading_actions: ClassVar[tuple[str, ...]] = ()
    # Actions that need an Idempotency-Key, and fields that a stored answer must not keep.
    idempotent_actions: ClassVar[tuple[str, ...]] = ()
    secret_fields: ClassVar[tuple[str, ...]] = ()
    # Actions that call another service, and so open their transactions themselves, before and after the call.
    unscoped_actions: ClassVar[tuple[str, ...]] = ()
    # Actions that take a code which could be guessed, with the refusal that says it was wrong.
    guessed_codes: ClassVar[dict[str, str]] = {}

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    renderer_classes = (JSONRenderer, ProblemRenderer)
    parser_classes = (JSONObjectParser,)
    metadata_class = None
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        # A body that can't be read is refused also where the action would not look at it.
        body: Any = request.data if request.method in {"POST", "PUT", "PATCH"} else {}
        takes = takes_of(type(self), self.action)
        if takes is not None:
            self.headers |= check_fields(request._request, takes, body)  # noqa: SLF001  what DRF has wrapped

    @property
    def principal(self) -> Principal:
        return self.request._request.principal  # type: ignore[attr-defined]  # noqa: SLF001  set by the middleware

    def scope(self) -> AbstractContextManager[None]:
        """A transaction bound as the request is: for `unscoped_actions`, as often as they need one."""
        return self.request._request.open_scope()  # type: ignore[attr-defined]  # noqa: SLF001  as above

    @property
    def opens_own_scopes(self) -> bool:
        return self.action in self.unscoped_actions

    def valid(self, serializer_class: type[serializers.Serializer], **options: Any) -> dict[str, Any]:
        """The body, validated; raises DRF's ValidationError, which becomes 422 `validation_failed`."""
        serializer = serializer_class(data=self.request.data, **options)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def valid_query(self, serializer_class: type[serializers.Serializer]) -> dict[str, Any]:
        """The query string, validated; filters that are not given are missing from it."""
        serializer = serializer_class(data=self.request.query_params.dict())
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    @property
    def cursor(self) -> Cursor:
        return Cursor.from_query(self.request.query_params)


class AdminViewSet(SurfaceViewSet):
    surface = "admin"


class StorefrontViewSet(SurfaceViewSet):
    surface = "storefront"
    # By action, the field of the body that only its shopper can name, where the path has no token to tell.
    shopper_fields: ClassVar[dict[str, str]] = {}


def access_of(view_class: type[SurfaceViewSet], action: str, method: str) -> Access:
    return "read" if method in {"GET", "HEAD"} or action in view_class.reading_actions else "write"


def scopes_of(view_class: type[SurfaceViewSet], action: str, method: str) -> list[str]:
    """The scopes of which a key needs one; none where any key is let in."""
    access = access_of(view_class, action, method)
    areas = (view_class.area, *view_class.further_areas)
    return [f"{access}_{area}" for area in areas if area]


def takes_of(view_class: type[SurfaceViewSet], action: str | None) -> Takes | None:
    """What an action's `@answers` says that it takes; None where there is no such action."""
    return getattr(getattr(view_class, action or "", None), "takes", None)
