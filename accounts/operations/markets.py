from collections.abc import Mapping
from datetime import datetime

from accounts.domains import require_free_domain
from accounts.models import Market
from accounts.rules import MARKET, NEW_MARKET


def create_market(*, fields: Mapping[str, object]) -> Market:
    """Create a market.

    Raises `ValidationFailed`, `DomainTaken`, and `MarketExists` and `HandleTaken` through the unique keys.
    """
    fields = NEW_MARKET.check(fields)
    require_free_domain(fields.get("domain"))
    return Market.objects.create(**fields)


def update_market(*, market: Market, changes: Mapping[str, object]) -> Market:
    """Change a market. It may keep a domain that another account has verified since. Raises as `create_market` does."""
    changes = MARKET.check(changes, partial=True)
    if changes.get("domain") != market.domain:
        require_free_domain(changes.get("domain"))
    market.save_changes(changes)
    return market


def deactivate_market(*, market: Market, now: datetime) -> Market:
    """Deactivate a market. Carts and orders still refer to it. Repeated, nothing changes."""
    Market.objects.filter(pk=market.pk, status=Market.Status.ACTIVE).update(
        status=Market.Status.INACTIVE, updated_at=now
    )
    market.refresh_from_db()
    return market
