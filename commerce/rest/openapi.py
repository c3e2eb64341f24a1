"""The OpenAPI document of the two surfaces: paths, security, the problem document, the headers."""

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.openapi import AutoSchema

from commerce.versions import current_version

from . import openapi_fields  # noqa: F401  registers how the conventions' fields look
from .views import SurfaceViewSet, scopes_of

PROBLEM = {
    "type": "object",
    "description": "A problem document (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string", "description": "Stable, snake_case."},
        "request_id": {"type": ["string", "null"]},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "code", "detail"],
                "properties": {
                    "field": {"type": "string"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
SECURITY_SCHEMES = {
    "AdminKey": {"type": "http", "scheme": "bearer", "description": "A workspace or admin key (`sk_...`)."},
    "StorefrontKey": {"type": "apiKey", "in": "header", "name": "X-Storefront-Key"},
    "ProviderSignature": {
        "type": "apiKey",
        "in": "header",
        "name": "provider-signature",
        "description": "HMAC-SHA-256 of the body in hex.",
    },
    "StripeSignature": {"type": "apiKey", "in": "header", "name": "Stripe-Signature"},
}
_PROBLEM_RESPONSE = {
    "description": "Refused.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "The same key with the same body replays the stored answer.",
}
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "`handling=strict` (RFC 7240, recommended) refuses unknown fields and parameters: "
    "422 `unknown_field` with an error for each. Otherwise the answer names them in `X-Unknown-Fields`.",
}
_HEADERS = {
    "X-Unknown-Fields": {
        "schema": {"type": "string"},
        "description": "The first 20 unknown fields and parameters of the request: dotted paths, "
        "percent-encoded, parted by commas.",
    },
    "Preference-Applied": {
        "schema": {"type": "string"},
        "description": "`handling=strict` where that was asked for, and the request was read.",
    },
    "RateLimit-Limit": {
        "schema": {"type": "integer"},
        "description": "Requests a minute: of the nearest limit.",
    },
    "RateLimit-Remaining": {"schema": {"type": "integer"}, "description": "What is left of them."},
    "RateLimit-Reset": {"schema": {"type": "integer"}, "description": "Seconds until the minute is over."},
}
_RETRY_AFTER = {"schema": {"type": "integer"}, "description": "Seconds to wait."}
_RATE_LIMITED = {
    "description": "Too many requests, or too many codes that were wrong (`rate_limited`).",
    "headers": {"Retry-After": {"$ref": "#/components/headers/Retry-After"}},
    "content": _PROBLEM_RESPONSE["content"],
}


class SurfaceSchema(AutoSchema):
    """Adds to each operation what the base class and the middleware do."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, object] | None:
        operation = super().get_operation(*args, **kwargs)
        if operation is None or not isinstance(self.view, SurfaceViewSet):
            return operation
        operation["security"] = [{"AdminKey" if self.view.surface == "admin" else "StorefrontKey": []}]
        for response in operation["responses"].values():
            # The renderer of problems is there for content negotiation, and is no second form of each answer.
            response.get("content", {}).pop("application/problem+json", None)
            response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS}
        operation["responses"] |= {"429": _RATE_LIMITED, "default": _PROBLEM_RESPONSE}
        operation.setdefault("parameters", []).append({"$ref": "#/components/parameters/Prefer"})
        action = getattr(self.view, "action", "") or ""
        if self.method == "POST":
            required = action in self.view.idempotent_actions
            operation["parameters"].append(_IDEMPOTENCY_KEY | {"required": required})
        if scopes := scopes_of(type(self.view), action, self.method):
            operation["x-required-scope"] = " | ".join(scopes)
        return operation

    def get_operation_id(self) -> str:
        """An id such as `carts_add_line`."""
        action = getattr(self.view, "action", "") or self.method.lower()
        name = type(self.view).__name__.removesuffix("ViewSet")
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        return (
            f"{self.view.surface}_{snake}_{action}"
            if isinstance(self.view, SurfaceViewSet)
            else super().get_operation_id()
        )

    def _is_list_view(self, serializer: object = None) -> bool:
        """False, as every answer is an object that names its resource, even that of `list`."""
        return False

    def get_tags(self) -> list[str]:
        # Of `/admin/<version>/{handle}/orders.json`: the surface and the resource.
        parts = [part for part in self.path.split("/") if part and not part.startswith("{")]
        return [f"{parts[0]}: {parts[2].removesuffix('.json')}"] if len(parts) > 2 else super().get_tags()

    def get_description(self) -> str:  # type: ignore[override]  # drf-spectacular takes no arguments, unlike DRF
        """The docstring of the action or else of its class, but never of a base class."""
        action = getattr(self.view, getattr(self.view, "action", None) or "", None)
        return inspect.cleandoc(action.__doc__ or type(self.view).__doc__ or "")


def webhook_operation(
    operation_id: str,
    description: str,
    *,
    security: dict[str, list[str]],
    parameters: Sequence[Mapping[str, object]],
    request: Mapping[str, object],
    answer: Mapping[str, object],
    refusals: dict[str, str],
) -> dict[str, object]:
    """The operation of an inbound webhook: a POST with a signature instead of a key. `refusals` are by status."""
    responses = {
        "200": {"description": "Received.", "content": {"application/json": {"schema": answer}}},
        **{status: _PROBLEM_RESPONSE | {"description": meaning} for status, meaning in refusals.items()},
        "default": _PROBLEM_RESPONSE,
    }
    operation = {
        "operationId": operation_id,
        "description": description,
        "parameters": parameters,
        "tags": ["webhooks"],
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "security": [security],
        "responses": responses,
    }
    return {"post": operation}


def keep_current_surfaces(endpoints: list[Any]) -> list[object]:
    """The paths of the current version. Documents of older versions are made from this one (versioning.py)."""
    version = current_version().name
    surfaces = (f"/admin/{version}/", f"/storefront/{version}/")
    return [endpoint for endpoint in endpoints if endpoint[0].startswith(surfaces)]


def add_components(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Add what all operations refer to."""
    components = result.setdefault("components", {})
    components["securitySchemes"] = SECURITY_SCHEMES
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    components["parameters"] = {"Prefer": _PREFER}
    components["headers"] = _HEADERS | {"Retry-After": _RETRY_AFTER}
    return result
