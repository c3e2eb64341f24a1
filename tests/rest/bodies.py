"""Generate valid and invalid request bodies from the serializer that a route declares."""

from collections.abc import Iterator
from typing import Any

from rest_framework import serializers

from commerce.rest import fields
from discounts.api.vouchers_serializers import RedeemInput
from discounts.models import Voucher
from tests.rest.routes import MODELS_BY_ID_NAME, Route, World

Path = tuple[str | int, ...]

# Values that can't be derived from a field's type, by field name.
_EXAMPLES: dict[str, Any] = {
    "bogo_config": None,
    "bulk_tiers": None,
    "cancel_url": "https://example.com/cancel",
    "carrier": "dhl",
    "code": "CODE10",
    "country_code": "DE",
    "country_codes": ["DE"],
    "delta": 1,
    "domain": None,
    "ends_at": "2026-12-02T00:00:00Z",
    "estimated_days_max": 3,
    "estimated_days_min": 1,
    "expires_at": "2030-01-01T00:00:00Z",
    "filter": {"all": [{"field": "tag", "op": "eq", "value": "vip"}]},
    "handle": "some-handle",
    "kind": "admin",
    "payment_method": "bank_transfer",
    "pickup_point_id": None,
    "rate_mode": "tiered",
    "reference_id": 1,
    "return_url": "https://example.com/return",
    "scopes": ["read_products"],
    "template_key": "order.confirmation",
    "tracking_url": "https://example.com/parcel",
    "url": "https://93.184.216.34/hooks",
    "vat_country_code": "AT",
    "vat_number": "U57194903",
    "zip_patterns": ["10*"],
}
_BY_TYPE: dict[type[serializers.Field], Any] = {
    fields.CurrencyField: "EUR",
    fields.CountryField: "DE",
    fields.LocaleField: "de-DE",
    fields.TimeZoneField: "Europe/Berlin",
    fields.DomainField: "shop.example.com",
    fields.EmailField: "buyer@example.com",
    fields.BooleanField: True,
    fields.IntegerField: 1,
    fields.ObjectField: {},
    fields.DateTimeField: "2026-12-01T00:00:00Z",
    serializers.CharField: "text",
    serializers.URLField: "https://example.com/",
    serializers.UUIDField: "b8f0a1de-6d3f-4f1e-9a83-6dd4b1a8b2c3",
    serializers.DictField: {},
    serializers.JSONField: {},
}
_ABSURD = 2**63
TEXTS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "x" * 100_000,
    "\U0001f984",
    "' OR 1=1; --",
    "9" * 40,
    "-1",
    "1e3",
    "Ǆ" * 64,
]
NUMBERS = [-1, 0, 1, 2**15, 2**31, 2**53 - 1, 2**53, _ABSURD, -_ABSURD - 1, 1.5, 1e300]
TIMES = [
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",
]
NESTED = [[], {}, [[]], [None], [{}], {"a": {"b": [1]}}, ["\x00"], ["x"] * 3000, {"\x00": 1}]
BAD_VALUES: list[Any] = [None, True, False, *TEXTS, *NUMBERS, *TIMES, *NESTED]


def serializer_of(route: Route) -> serializers.Serializer | None:
    """Return the serializer that the route declares for its body, or None if it takes no body."""
    serializer = _declared(route).get_request_serializer()
    if isinstance(serializer, type):
        serializer = serializer()
    return serializer if isinstance(serializer, serializers.Serializer) else None


def query_names(route: Route) -> Iterator[str]:
    """Return the query parameters that the route declares."""
    for parameter in _declared(route).get_override_parameters():
        if isinstance(parameter, type) and issubclass(parameter, serializers.Serializer):
            yield from parameter().fields
        else:
            yield parameter.name


def _declared(route: Route) -> Any:
    """Return the declarations of `@answers` for the route's action."""
    view = route.view_class()
    view.request, view.kwargs = None, {}
    schema = getattr(route.view_class, route.action).kwargs["schema"]()
    return schema.__get__(view, route.view_class)


def sample(serializer: serializers.Serializer | None, world: World) -> dict[str, Any]:
    """Generate a valid body that refers to rows of the world's shop."""
    if serializer is None:
        return {}
    return {
        name: _value(name, field, world) for name, field in serializer.fields.items() if not field.read_only
    }


def _value(name: str, field: serializers.Field, world: World) -> Any:
    if isinstance(field, serializers.ListSerializer | serializers.ListField) and name not in _EXAMPLES:
        return [_value(name.removesuffix("s"), field.child, world)]
    if isinstance(field, serializers.Serializer):
        return sample(field, world)
    if name in MODELS_BY_ID_NAME:
        return world.row_id(name)
    if name == "code" and isinstance(field.parent, RedeemInput):
        return world.rows[Voucher].code
    if name.endswith("cart_token"):
        return world.value("carts", "token")
    return _EXAMPLES[name] if name in _EXAMPLES else _by_type(name, field)


def _by_type(name: str, field: serializers.Field) -> Any:
    if isinstance(field, serializers.ChoiceField):
        return next(iter(field.choices))
    for kind, example in _BY_TYPE.items():
        if isinstance(field, kind):
            return example
    raise AssertionError(f"Say in _EXAMPLES of tests/rest/bodies.py what {name!r} may be.")


def id_paths(serializer: serializers.Serializer) -> Iterator[tuple[Path, str]]:
    """Yield every id in a body with its path and name; of `product_ids` only the first, named `product_id`."""
    for path, field in field_paths(serializer):
        name = str(path[-1]) if isinstance(path[-1], str) else str(path[-2]).removesuffix("s")
        if isinstance(field, fields.IdField) and name not in _EXAMPLES:
            yield path, name


def field_paths(
    serializer: serializers.Serializer, prefix: Path = ()
) -> Iterator[tuple[Path, serializers.Field]]:
    """Yield every field of a body with its path; of lists only the first element."""
    for name, field in serializer.fields.items():
        if field.read_only:
            continue
        path = (*prefix, name)
        yield path, field
        if isinstance(field, serializers.ListSerializer):
            yield from field_paths(field.child, (*path, 0))
        elif isinstance(field, serializers.Serializer):
            yield from field_paths(field, path)
        elif isinstance(field, serializers.ListField) and not isinstance(field.child, serializers.ListField):
            yield (*path, 0), field.child


def with_value(body: Any, path: Path, value: Any) -> Any:
    """Return a copy of the body with one value replaced."""
    if not path:
        return value
    first, *rest = path
    copy = dict(body) if isinstance(body, dict) else list(body)
    copy[first] = with_value(body[first], tuple(rest), value)
    return copy
