"""Amounts in Stripe's own units. Source: Stripe's documentation, "Supported currencies", special cases.

Ours are ISO 4217's minor units, and so are Stripe's but for a few currencies.
"""

# Without minor units in ISO 4217, while Stripe goes on taking hundredths.
_HUNDREDTHS_AT_STRIPE = frozenset({"ISK", "UGX"})
# With hundredths in ISO 4217, while Stripe takes whole ones alone.
_WHOLE_AT_STRIPE = frozenset({"MGA"})
# Thousandths, of which card networks take tens.
_TENS_AT_STRIPE = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


class NotChargeable(ValueError):
    """An amount that Stripe can't take exactly; a rounded one would not be what the customer agreed to."""


def stripe_amount(amount_cents: int, currency: str) -> int:
    """What Stripe calls an amount in minor units; raises `NotChargeable`."""
    if currency in _HUNDREDTHS_AT_STRIPE:
        return amount_cents * 100
    step = 100 if currency in _WHOLE_AT_STRIPE else 10 if currency in _TENS_AT_STRIPE else 1
    if amount_cents % step:
        raise NotChargeable(f"Stripe takes {currency} in steps of {step} minor units.")
    return amount_cents // step if currency in _WHOLE_AT_STRIPE else amount_cents
