import pytest

from commerce.payments.stripe.amounts import NotChargeable, to_stripe_amount


@pytest.mark.parametrize(
    ("amount_cents", "currency", "expected"),
    [
        (1990, "EUR", 1990),
        (1990, "CZK", 1990),
        (500, "JPY", 500),
        (5, "ISK", 500),
        (5, "UGX", 500),
        (500, "MGA", 5),
        (5120, "KWD", 5120),
        (199000, "HUF", 199000),
    ],
)
def test_amount_is_in_the_units_that_stripe_takes(amount_cents, currency, expected):
    assert to_stripe_amount(amount_cents, currency) == expected


@pytest.mark.parametrize(("amount_cents", "currency"), [(5124, "KWD"), (501, "MGA")])
def test_amount_that_stripe_can_not_take_exactly_is_refused(amount_cents, currency):
    with pytest.raises(NotChargeable):
        to_stripe_amount(amount_cents, currency)
