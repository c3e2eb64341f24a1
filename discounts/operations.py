from datetime import datetime
from typing import Any

from .models import Discount


def create_discount(*, fields: dict[str, Any]) -> Discount:
    """A new discount. Raises `DiscountCodeTaken` through the unique key."""
    return Discount.objects.create(**fields)


def update_discount(*, discount: Discount, changes: dict[str, Any]) -> Discount:
    """Change a discount. Raises `DiscountCodeTaken` through the unique key."""
    for name, value in changes.items():
        setattr(discount, name, value)
    discount.save(update_fields=[*changes, "updated_at"])
    return discount


def archive_discount(*, discount: Discount, now: datetime) -> Discount:
    """Take a discount out of use for good and free its code. Repeated, nothing changes."""
    Discount.objects.filter(pk=discount.pk).exclude(status=Discount.Status.ARCHIVED).update(
        status=Discount.Status.ARCHIVED, archived_at=now, updated_at=now
    )
    discount.refresh_from_db()
    return discount
