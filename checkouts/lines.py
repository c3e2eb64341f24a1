"""Lines as they are charged: without tax under a reverse charge. The frozen lines stay unchanged."""

from collections.abc import Sequence
from copy import copy

from checkouts.models import Checkout, CheckoutLineItem

# Without tax, these columns of a line take the value of another column, or 0.
UNTAXED: dict[str, str] = {
    "tax_rate_bp": "0",
    "unit_price_with_tax_cents": "unit_price_without_tax_cents",
    "line_total_with_tax_cents": "line_total_without_tax_cents",
    "line_tax_cents": "0",
}


def charged_lines(checkout: Checkout, lines: Sequence[CheckoutLineItem]) -> list[CheckoutLineItem]:
    """Return the frozen lines, or copies of them without tax. The copies must never be saved."""
    return [_untaxed(line) for line in lines] if checkout.is_reverse_charge else list(lines)


def _untaxed(line: CheckoutLineItem) -> CheckoutLineItem:
    untaxed = copy(line)
    for name, source in UNTAXED.items():
        setattr(untaxed, name, 0 if source == "0" else getattr(line, source))
    return untaxed
