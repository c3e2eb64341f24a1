"""A Czech shop, and a checkout in it that a German buyer may complete without tax."""

import pytest

from tests import factories
from tests.checkouts.api.vat.steps import sell_from
from tests.storefront import checkout_in


@pytest.fixture
def czech(shop):
    """The shop with a Czech VAT number, whose goods are taxed at 19 %."""
    sell_from(shop, "CZ25123891")
    factories.make_tax_rate(shop)
    return shop


@pytest.fixture
def rate(czech):
    """A shipping rate of 4.90, with 1.50 for cash on delivery."""
    return factories.make_rate(
        czech,
        price_cents=490,
        method=factories.make_method(czech, cod_fee_cents=150, is_cod_compatible=True),
    )


@pytest.fixture
def checkout(czech, rate):
    """A checkout of two books at 11.90 and three pens at 3.33, sent to Berlin, as in docs/pricing.md."""
    book, pen = (factories.make_variant(czech, price_cents=price) for price in (1190, 333))
    return checkout_in("shipping", czech, (book, 2), (pen, 3), rate=rate)
