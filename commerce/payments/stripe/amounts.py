"""Amounts in Stripe's units. Source: Stripe's documentation, "Supported currencies", special cases.

We use the minor units of ISO 4217; Stripe differs for a few currencies.
"""

# No minor units in ISO 4217, but hundredths at Stripe.
_HUNDREDTHS_AT_STRIPE = frozenset({"ISK", "UGX"})
# Hundredths in ISO 4217, but only whole units at Stripe.
_WHOLE_AT_STRIPE = frozenset({"MGA"})
# Thousandths; card networks take multiples of ten only.
_TENS_AT_STRIPE = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


class NotChargeable(ValueError):
    """Stripe can't charge this exact amount, and the customer hasn't agreed to a rounded one."""


def to_stripe_amount(amount_cents: int, currency: str) -> int:
    """Convert an amount from ISO 4217 minor units to Stripe's; raises `NotChargeable`."""
    if currency in _HUNDREDTHS_AT_STRIPE:
        return amount_cents * 100
    step = 100 if currency in _WHOLE_AT_STRIPE else 10 if currency in _TENS_AT_STRIPE else 1
    if amount_cents % step:
        raise NotChargeable(f"Stripe takes {currency} in steps of {step} minor units.")
    return amount_cents // step if currency in _WHOLE_AT_STRIPE else amount_cents
