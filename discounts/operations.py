from datetime import datetime
from typing import Any

from commerce.errors import NotFound, ValidationFailed

from .errors import DiscountArchived
from .models import Discount
from .queries import get_discount, require_known_ids
from .rules import require_sound, settle


def create_discount(*, fields: dict[str, Any]) -> Discount:
    """A new discount; null stands for a field's default.

    Raises `ValidationFailed` for fields that do not fit each other and for ids that name nothing, and
    `DiscountCodeTaken` through the unique key.
    """
    require_known_ids(fields)
    discount = Discount(type=fields["type"])
    settle(discount, {"applies_to": None} | fields)
    require_sound(discount)
    discount.save(force_insert=True)
    return discount


def update_discount(*, discount_id: int, changes: dict[str, Any]) -> Discount:
    """Change a discount that is not archived, all but its type; null resets a field to its default.

    Raises `NotFound`, `DiscountArchived`, and as `create_discount` does for what the discount would become.
    """
    discount = _lock_discount(discount_id)
    if discount.status == Discount.Status.ARCHIVED:
        raise DiscountArchived
    if changes.get("type", discount.type) != discount.type:
        raise ValidationFailed.of("type", "can_not_change", "The type of a discount can't change.")
    require_known_ids(changes)
    settle(discount, changes)
    require_sound(discount)
    discount.save(update_fields=[*changes, "updated_at"])
    return discount


def archive_discount(*, discount_id: int, now: datetime) -> Discount:
    """Take a discount out of use for good and free its code. Repeated, nothing changes. Raises `NotFound`."""
    Discount.objects.filter(pk=discount_id).exclude(status=Discount.Status.ARCHIVED).update(
        status=Discount.Status.ARCHIVED, archived_at=now, updated_at=now
    )
    return get_discount(discount_id)


def _lock_discount(discount_id: int) -> Discount:
    """The discount as it stays until the transaction ends, so that changes to its parts can't undo its soundness."""
    discount = Discount.objects.select_for_update(no_key=True).filter(pk=discount_id).first()
    if discount is None:
        raise NotFound
    return discount
