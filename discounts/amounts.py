"""How the numbers of a discount are written in the back office: percentages or amounts, by its fields."""

from collections.abc import Callable

from accounts.queries import choose_currency
from commerce.backoffice.measure_fields import Read, clean_currency
from commerce.backoffice.measures import Measure, Money, Percentage
from commerce.backoffice.picks import list_ids

from .models import Discount

MONEY_MODES = (Discount.ValueMode.FIXED_AMOUNT, Discount.ValueMode.SET_PRICE)


def find_discount_measure(name: str, read: Read) -> Measure | None:
    """Return the measure of a column of a discount."""
    if name == "value_amount":
        return choose_measure(read("value_mode"), lambda: find_currency(read))
    return Money(find_currency(read)) if name.endswith("_cents") else None


def choose_measure(value_mode: str | None, find: Callable[[], str]) -> Measure:
    """Return the measure of a value of this mode, in the currency to be found."""
    return Percentage() if value_mode == Discount.ValueMode.PERCENTAGE else Money(find())


def find_currency(read: Read) -> str:
    """Return the discount's currency, or else the one that saving it would choose."""
    return clean_currency(read("currency")) or choose_currency(market_ids=list_ids(read("market_ids")))
