"""What accounts provide to the catalog, which is below them."""

from collections.abc import Iterable

from accounts.models import Market
from commerce.catalog.hooks import register_currency_finder


@register_currency_finder
def find_market_currencies(market_ids: Iterable[int]) -> dict[int, str]:
    markets = Market.objects.filter(pk__in=set(market_ids))
    return dict(markets.values_list("pk", "currency"))
