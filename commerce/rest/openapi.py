"""The OpenAPI document of the two surfaces: operations, tags, and what all of them refer to."""

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from drf_spectacular.openapi import AutoSchema

from commerce.errors import Refusal
from commerce.versions import current_version

from . import openapi_fields, openapi_links, openapi_refusals
from .openapi_examples import add_examples
from .openapi_links import add_links
from .openapi_parts import ANSWER_HEADERS, FURTHER_HEADERS, PARAMETERS, PROBLEM, SECURITY_SCHEMES
from .views import SurfaceViewSet, scopes_of

# The names of DRF's actions in ids of operations.
_ACTIONS = {
    "list": "list",
    "create": "create",
    "retrieve": "retrieve",
    "update": "update",
    "partial_update": "update",
    "destroy": "delete",
}

_WEBHOOKS = "Events that other services send to us. They carry a signature instead of a key."

_EVENTS = "Messages to a shop's webhook endpoints, each a POST to the endpoint's URL."


class SurfaceSchema(AutoSchema):
    """Adds to each operation what the base class and the middleware do."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None or not isinstance(self.view, SurfaceViewSet):
            return operation
        operation["security"] = [{"AdminKey" if self.view.surface == "admin" else "StorefrontKey": []}]
        for status, response in operation["responses"].items():
            # The renderer of problems is there for content negotiation, and is no second form of each answer.
            response.get("content", {}).pop("application/problem+json", None)
            response["description"] = response["description"] or HTTPStatus(int(status)).phrase
            response["headers"] = {name: _refer("headers", name) for name in self._answer_headers()}
        operation["responses"] |= openapi_refusals.describe_refusals(
            openapi_refusals.list_refusals(
                type(self.view), self._action, self.method, has_path="{" in self.path
            )
        )
        parameters = operation.setdefault("parameters", [])
        for parameter in parameters:
            # Everything in a query is text, so integers and their decimal strings are the same there.
            if parameter["in"] == "query" and "oneOf" in parameter["schema"]:
                parameter["schema"] = parameter["schema"]["oneOf"][0]
        parameters.append(_refer("parameters", "Prefer"))
        if self.method == "POST":
            is_required = self._action in self.view.idempotent_actions
            name = "RequiredIdempotencyKey" if is_required else "IdempotencyKey"
            parameters.append(_refer("parameters", name))
        if leads_to := getattr(getattr(self.view, self._action, None), "leads_to", None):
            operation[openapi_links.MARK] = leads_to
        if scopes := scopes_of(type(self.view), self._action, self.method):
            operation["x-required-scope"] = " | ".join(scopes)
            needed = " or ".join(f"`{scope}`" for scope in scopes)
            operation["description"] = (
                f"{operation.get('description', '')}\n\nRequired scope: {needed}.".strip()
            )
        return operation

    @property
    def _action(self) -> str:
        return getattr(self.view, "action", None) or ""

    def _answer_headers(self) -> list[str]:
        return [*ANSWER_HEADERS, "Idempotent-Replayed"] if self.method == "POST" else [*ANSWER_HEADERS]

    def get_operation_id(self) -> str:
        """An id such as `storefront_carts_create`, from which generated clients name their functions."""
        if not isinstance(self.view, SurfaceViewSet):
            return super().get_operation_id()
        area = _find_tag(self.path).partition(": ")[2].replace("-", "_")
        resource = _name_resource(type(self.view), area)
        action = _name_action(self._action or self.method.lower(), self.method)
        # A resource may be named like its only action: `admin_email_send`, not `admin_email_send_send`.
        name = resource if resource.endswith(f"_{action}") else f"{resource}_{action}"
        return f"{self.view.surface}_{name}"

    def _is_list_view(self, serializer: object = None) -> bool:
        """False, as every answer is an object that names its resource, even that of `list`."""
        return False

    def get_tags(self) -> list[str]:
        return [_find_tag(self.path)]

    def get_summary(self) -> str | None:
        """The first sentence of the action's docstring."""
        return _read_docstring(self.view, self._action)[0].removesuffix(".") or None

    def get_description(self) -> str:  # type: ignore[override]  # drf-spectacular takes no arguments, unlike DRF
        """The rest of the action's docstring."""
        return _read_docstring(self.view, self._action)[1]

    def _get_request_for_media_type(self, serializer: Any, direction: str = "request") -> Any:
        # A PATCH requires what its serializer requires, unlike those that DRF validates partially by themselves.
        if self.method != "PATCH":
            return super()._get_request_for_media_type(serializer, direction)
        self.method = "PUT"
        try:
            return super()._get_request_for_media_type(serializer, direction)
        finally:
            self.method = "PATCH"

    def _postprocess_serializer_schema(self, schema: Any, serializer: Any, direction: str) -> Any:
        schema = super()._postprocess_serializer_schema(schema, serializer, direction)
        if direction == "request" and schema.get("type") == "object":
            # What strict handling refuses, and what the answer names otherwise.
            schema["additionalProperties"] = False
        return schema

    def _map_serializer_field(self, field: Any, direction: str, bypass_extensions: bool = False) -> Any:
        schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if schema and direction == "request":
            schema |= openapi_fields.describe_limits(field)
        return schema

    def _get_serializer_field_meta(self, field: Any, direction: str) -> dict[str, Any]:
        meta: dict[str, Any] = super()._get_serializer_field_meta(field, direction)
        if description := openapi_fields.describe_field(field):
            meta["description"] = description
        return meta

    def _resolve_path_parameters(self, variables: Sequence[str]) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super()._resolve_path_parameters(variables)
        for parameter in parameters:
            parameter["description"] = openapi_fields.describe_path_parameter(parameter["name"], self.path)
        return parameters


def _refer(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def _read_docstring(view: object, action: str) -> tuple[str, str]:
    """The first paragraph of an action's docstring, and the rest."""
    documented = inspect.cleandoc(getattr(getattr(view, action, None), "__doc__", None) or "")
    summary, _, description = documented.partition("\n\n")
    return " ".join(summary.split()), description


def _name_action(action: str, method: str) -> str:
    """Name an action in the operation's id: DRF's `destroy` is "delete", a PUT of `address` is "set_address"."""
    if action in _ACTIONS:
        return _ACTIONS[action]
    return action if method != "PUT" or action.startswith("set_") else f"set_{action}"


def _name_resource(view: type[SurfaceViewSet], area: str) -> str:
    """Name a view's resource, with its area: "shipping_zones" for `ZonesViewSet`."""
    name = view.__name__.removesuffix("ViewSet").removeprefix("Storefront")
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    singular = area.removesuffix("s")
    if area.endswith(f"_{snake}"):
        return area
    return snake if singular in snake else f"{singular}_{snake}"


def _find_tag(path: str) -> str:
    # The surface and the resource: "admin: orders" for `/admin/<version>/{handle}/orders.json`.
    parts = [part for part in path.split("/") if part and not part.startswith("{")]
    return f"{parts[0]}: {parts[2].removesuffix('.json')}" if len(parts) > 2 else "webhooks"


def webhook_operation(
    operation_id: str,
    description: str,
    *,
    summary: str,
    security: dict[str, list[str]],
    parameters: Sequence[Mapping[str, object]],
    request: Mapping[str, object],
    answer: Mapping[str, object],
    refuses: Iterable[type[Refusal]],
) -> dict[str, object]:
    """The operation of an inbound webhook: a POST with a signature instead of a key."""
    received = {"description": "Received.", "content": {"application/json": {"schema": answer}}}
    found = dict.fromkeys([*openapi_refusals.WEBHOOK_REFUSALS, *refuses])
    operation = {
        "operationId": operation_id,
        "summary": summary,
        "description": description,
        "parameters": parameters,
        "tags": ["webhooks"],
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "security": [security],
        "responses": {"200": received, **openapi_refusals.describe_refusals(found)},
    }
    return {"post": operation}


def keep_current_surfaces(endpoints: list[Any]) -> list[object]:
    """The paths of the current version. Documents of older versions are made from this one (versioning.py)."""
    version = current_version().name
    surfaces = (f"/admin/{version}/", f"/storefront/{version}/")
    return [endpoint for endpoint in endpoints if endpoint[0].startswith(surfaces)]


def add_components(result: dict[str, Any], generator: Any, request: object, public: bool) -> dict[str, Any]:
    """Add what all operations refer to."""
    components = result.setdefault("components", {})
    components["securitySchemes"] = SECURITY_SCHEMES
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    components["parameters"] = PARAMETERS
    components["headers"] = ANSWER_HEADERS | FURTHER_HEADERS
    components["responses"], components["examples"] = openapi_refusals.make_shared_parts(result["paths"])
    add_links(result["paths"], components["schemas"])
    add_examples(operation for methods in result["paths"].values() for operation in methods.values())
    result["tags"] = _describe_tags(generator.endpoints)
    _drop_marks(result)
    return result


def _drop_marks(node: object) -> None:
    """Remove the marks that drf-spectacular puts on enums for its own later steps."""
    if isinstance(node, dict):
        node.pop("x-spec-enum-id", None)
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for part in parts:
        _drop_marks(part)


def _describe_tags(endpoints: Iterable[tuple[str, str, str, Any]]) -> list[dict[str, str]]:
    """The tags in the order of their names, each described by the docstrings of its views."""
    texts: dict[str, dict[str, None]] = {"webhooks": {_WEBHOOKS: None}, "events": {_EVENTS: None}}
    for path, _, _, callback in endpoints:
        found = texts.setdefault(_find_tag(path), {})
        if documented := callback.cls.__dict__.get("__doc__"):
            found[inspect.cleandoc(documented)] = None
    return [{"name": name, "description": "\n\n".join(texts[name])} for name in sorted(texts)]
