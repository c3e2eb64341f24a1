from collections.abc import Mapping, Sequence
from datetime import datetime

from commerce.catalog.models import Product
from commerce.catalog.rules import NEW_PRODUCT, PRODUCT
from commerce.queries import get_or_not_found

from .sizes import lock_product
from .variants import insert_variants


def create_product(*, fields: Mapping[str, object], variants: Sequence[Mapping[str, object]]) -> Product:
    """Create a product; each variant may have its `pricing`.

    Raises `ValidationFailed`, also for unknown markets, and `ProductHandleTaken` and `SkuTaken` through the unique
    keys.
    """
    checked = NEW_PRODUCT.check({**fields, "variants": variants})
    drafts = checked.pop("variants")
    product = Product.objects.create(**checked)
    insert_variants(product, {f"variants.{index}.": draft for index, draft in enumerate(drafts)})
    return product


def update_product(*, product_id: int, changes: Mapping[str, object], now: datetime) -> None:
    """Change a product. Its status archives it with its variants, or restores both.

    Raises as `create_product` does, and `NotFound`.
    """
    changes = PRODUCT.check(changes, partial=True)
    locked = lock_product(product_id)
    is_archived = changes.get("status", locked.status) == Product.Status.ARCHIVED
    archived_at = (locked.archived_at or now) if is_archived else None
    if archived_at != locked.archived_at:
        # Variants archived together with the product have its time stamp. Those archived on their own stay as they are.
        together = locked.variants.filter(archived_at=locked.archived_at)
        together.update(archived_at=archived_at, updated_at=now)
        locked.archived_at = archived_at
    for name, value in changes.items():
        setattr(locked, name, value)
    locked.save(update_fields=[*changes, "archived_at", "updated_at"])


def archive_product(*, product_id: int, now: datetime) -> None:
    """Take a product and its variants off sale. Carts and orders still refer to them. Repeated, nothing changes.

    Raises `NotFound`.
    """
    product = get_or_not_found(Product.objects, pk=product_id)
    if product.status != Product.Status.ARCHIVED:
        update_product(product_id=product_id, changes={"status": Product.Status.ARCHIVED}, now=now)
