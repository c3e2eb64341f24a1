"""Integer money: minor units ("cents"), rates in basis points (10,000 = 100 %). No framework, no floats."""

from collections.abc import Sequence
from dataclasses import dataclass

BASIS_POINTS = 10_000


def divide_half_up(numerator: int, denominator: int) -> int:
    """Round to the nearest integer, halves away from zero. All rounding of money uses this."""
    # Of the absolute value: Python divides towards minus infinity, which would round -0.5 up to 0.
    quotient, remainder = divmod(abs(numerator), denominator)
    rounded = quotient + (2 * remainder >= denominator)
    return rounded if numerator >= 0 else -rounded


def share(amount_cents: int, rate_bp: int) -> int:
    """`rate_bp` basis points of an amount, in cents."""
    return divide_half_up(amount_cents * rate_bp, BASIS_POINTS)


def tax_within(gross_cents: int, rate_bp: int) -> int:
    """The tax that a gross amount includes, in cents; the net is the rest."""
    return divide_half_up(gross_cents * rate_bp, BASIS_POINTS + rate_bp)


def tax_of(amount_cents: int, rate_bp: int, *, includes_tax: bool) -> int:
    """The tax of an amount that includes it, or of a net one. All rounding of taxes is here."""
    return tax_within(amount_cents, rate_bp) if includes_tax else share(amount_cents, rate_bp)


@dataclass(frozen=True, slots=True)
class Taxed:
    """An amount with and without tax, in cents. Net and tax always add up to gross."""

    net_cents: int
    tax_cents: int

    @property
    def gross_cents(self) -> int:
        return self.net_cents + self.tax_cents


def apply_tax(amount_cents: int, rate_bp: int, *, includes_tax: bool) -> Taxed:
    """Split a gross amount, or add tax to a net one. The tax is rounded, never the given amount."""
    tax_cents = tax_of(amount_cents, rate_bp, includes_tax=includes_tax)
    return Taxed(net_cents=amount_cents - tax_cents if includes_tax else amount_cents, tax_cents=tax_cents)


def allocate(amount_cents: int, weights: Sequence[int]) -> list[int]:
    """Split an amount by weights so that the parts sum to it: largest remainder, ties to the earlier part.

    Parts of weight 0 get nothing. Raises `ValueError` if all weights are 0 and the amount isn't.
    """
    total = sum(weights)
    if total == 0:
        if amount_cents:
            raise ValueError("An amount can't be split over weights that sum to 0.")
        return [0] * len(weights)
    # Rounded down, the parts leave fewer cents over than there are remainders. Those with the largest get one each,
    # and a weight of 0 has none.
    parts = [amount_cents * weight // total for weight in weights]
    remainders = [amount_cents * weight % total for weight in weights]
    for index in sorted(range(len(weights)), key=lambda i: (-remainders[i], i))[: amount_cents - sum(parts)]:
        parts[index] += 1
    return parts
