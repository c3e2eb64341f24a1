"""Lines as they are charged: without tax under a reverse charge, while what is frozen stays as it is."""

from collections.abc import Sequence
from copy import copy

from checkouts.models import Checkout, CheckoutLineItem

# Columns of a line that show another one, or 0, where no tax is charged.
UNTAXED: dict[str, str] = {
    "tax_rate_bp": "0",
    "unit_price_with_tax_cents": "unit_price_without_tax_cents",
    "line_total_with_tax_cents": "line_total_without_tax_cents",
    "line_tax_cents": "0",
}


def charged_lines(checkout: Checkout, lines: Sequence[CheckoutLineItem]) -> list[CheckoutLineItem]:
    """The frozen lines, or copies of them without tax: to be read, never to be saved."""
    return [_untaxed(line) for line in lines] if checkout.is_reverse_charge else list(lines)


def _untaxed(line: CheckoutLineItem) -> CheckoutLineItem:
    untaxed = copy(line)
    for name, source in UNTAXED.items():
        setattr(untaxed, name, 0 if source == "0" else getattr(line, source))
    return untaxed
