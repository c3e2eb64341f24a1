from collections.abc import Mapping
from datetime import datetime

from accounts.domains import require_free_domain
from accounts.models import Market
from accounts.rules import MARKET, NEW_MARKET
from commerce.queries import get_or_not_found


def create_market(*, fields: Mapping[str, object]) -> Market:
    """Create a market.

    Raises `ValidationFailed`, `DomainTaken`, and `MarketExists` and `HandleTaken` through the unique keys.
    """
    fields = NEW_MARKET.check(fields)
    require_free_domain(fields.get("domain"))
    return Market.objects.create(**fields)


def update_market(*, market_id: int, changes: Mapping[str, object]) -> Market:
    """Change a market. It may keep a domain that another account has verified since.

    Raises as `create_market` does, and `NotFound`.
    """
    market = get_or_not_found(Market.objects, pk=market_id)
    changes = MARKET.check(changes, partial=True)
    if changes.get("domain") != market.domain:
        require_free_domain(changes.get("domain"))
    market.save_changes(changes)
    return market


def deactivate_market(*, market_id: int, now: datetime) -> Market:
    """Deactivate a market. Carts and orders still refer to it. Repeated, nothing changes. Raises `NotFound`."""
    Market.objects.filter(pk=market_id, status=Market.Status.ACTIVE).update(
        status=Market.Status.INACTIVE, updated_at=now
    )
    return get_or_not_found(Market.objects, pk=market_id)
