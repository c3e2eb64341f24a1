"""Hooks for apps above the catalog. They register functions, and import the registering module in their `ready()`."""

from collections.abc import Callable, Iterable
from datetime import datetime

from commerce.catalog.models import Variant

# Returns the currency of each market that exists in the account in scope, by the market's id.
CurrencyFinder = Callable[[Iterable[int]], dict[int, str]]
Step = Callable[[Variant, datetime], None]

_currency_finders: list[CurrencyFinder] = []
_steps: list[Step] = []


def register_currency_finder(finder: CurrencyFinder) -> CurrencyFinder:
    """Register how the currencies of markets are found."""
    _currency_finders.append(finder)
    return finder


def find_market_currencies(market_ids: Iterable[int]) -> dict[int, str]:
    """Find the currency of each market that exists in the account in scope."""
    # Markets belong to accounts, which imports the catalog and registers the one finder.
    (finder,) = _currency_finders
    return finder(market_ids)


def on_backorder_change(step: Step) -> Step:
    """Register what follows a change of a variant's backorder rule. Steps run while the variant is locked."""
    _steps.append(step)
    return step


def run_backorder_steps(variant: Variant, *, now: datetime) -> None:
    """Run the registered steps for a variant whose backorder rule has changed."""
    for step in _steps:
        step(variant, now)
