"""The filters of segments: `{"all": [{"field", "op", "value"}]}`. All conditions must hold."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from .models import Customer

# A customer's values of a field.
Facts = Sequence[Any]

EQUALITY = ("eq", "neq", "in")
ORDER = ("eq", "neq", "in", "gte", "lte")

# The operators that each field takes.
FIELDS: dict[str, tuple[str, ...]] = {
    "tag": EQUALITY,
    "email_domain": EQUALITY,
    "country_code": EQUALITY,
    "orders_count": ORDER,
    "total_spent_cents": ORDER,
    "created_at": ORDER,
}

_OPERATORS: dict[str, Callable[[Facts, Any], bool]] = {
    "eq": lambda facts, value: value in facts,
    # So an unknown value differs from all others.
    "neq": lambda facts, value: value not in facts,
    "in": lambda facts, values: any(fact in values for fact in facts),
    "gte": lambda facts, value: any(fact >= value for fact in facts),
    "lte": lambda facts, value: any(fact <= value for fact in facts),
}


def matches(conditions: dict[str, Any], customer: Customer) -> bool:
    """Whether a customer, loaded `with_spending`, matches a filter. An empty filter matches everybody."""
    _, _, domain = (customer.normalised_email or "").rpartition("@")
    # Several tags, and one value of the other fields, or none if it is unknown.
    facts: dict[str, Facts] = {
        "tag": customer.tags,
        "email_domain": [domain] if domain else [],
        "country_code": [customer.country_code] if customer.country_code else [],
        "orders_count": [customer.orders_count],
        "total_spent_cents": [customer.total_spent_cents],
        "created_at": [customer.created_at],
    }
    return all(
        _OPERATORS[condition["op"]](facts[condition["field"]], _read_value(condition))
        for condition in conditions["all"]
    )


def _read_value(condition: dict[str, Any]) -> Any:
    """Return the value to compare with. Filters store timestamps as text."""
    value = condition["value"]
    if condition["field"] != "created_at":
        return value
    if isinstance(value, list):
        return [datetime.fromisoformat(text) for text in value]
    return datetime.fromisoformat(value)
