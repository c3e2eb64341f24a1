"""Maps items of Packeta's feed, version 5, to our fields. Its booleans and numbers are strings."""

from collections.abc import Mapping
from decimal import Decimal

_SAME = {
    "external_id": "id",
    "name": "name",
    "address1": "street",
    "city": "city",
    "zip": "zip",
    "country_code": "country",
    "latitude": "latitude",
    "longitude": "longitude",
}


def map_fields(item: Mapping[str, object]) -> dict[str, object]:
    """Map one item's fields, without checking them."""
    fields = {ours: item.get(theirs) for ours, theirs in _SAME.items()}
    status = item.get("status")
    status_id = status.get("statusId", "1") if isinstance(status, dict) else "1"
    # A point that is closed for now, or that Packeta doesn't want to be shown, must not be offered.
    is_open = str(status_id) == "1" and str(item.get("displayFrontend", "1")) == "1"
    return fields | {
        # Only lockers have a type.
        "kind": "locker" if item.get("type") else "point",
        # The feed writes an empty object as an empty list.
        "opening_hours": item.get("openingHours") or None,
        # The feed has no field for cash on delivery; accepting cards comes closest.
        "is_cod_supported": item.get("creditCardPayment") == "yes",
        "max_weight_grams": _to_grams(item.get("maxWeight")),
        "status": "active" if is_open else "closed",
    }


def _to_grams(kilograms: object) -> object:
    """Convert to grams. What isn't a number is returned as it is, and refused with the other fields."""
    try:
        return Decimal(str(kilograms)) * 1000
    except ArithmeticError:
        return kilograms
