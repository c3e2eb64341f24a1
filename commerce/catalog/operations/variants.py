from collections.abc import Mapping
from datetime import datetime
from typing import Any

from commerce.catalog.errors import ProductArchived, TooManyVariants
from commerce.catalog.hooks import change_backorder_rule, find_market_currencies
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.catalog.rules import NEW_VARIANT, VARIANT
from commerce.errors import ValidationFailed
from commerce.tenancy.locks import lock

# Per product, since an answer contains all of them.
MAX_VARIANTS = 2_000


def add_variant(*, product: Product, fields: Mapping[str, object]) -> Variant:
    """Add a variant, which may have its `pricing`, to a product.

    Raises `ValidationFailed`, also for unknown markets, `ProductArchived`, `TooManyVariants`, and `SkuTaken` through
    the unique key.
    """
    fields = NEW_VARIANT.check(fields)
    locked = lock(Product.objects.all()).get(pk=product.pk)
    if locked.status == Product.Status.ARCHIVED:
        raise ProductArchived
    if Variant.objects.filter(product=locked, archived_at__isnull=True).count() >= MAX_VARIANTS:
        raise TooManyVariants(max_variants=MAX_VARIANTS)
    (variant,) = insert_variants(locked, {"": fields})
    return variant


def update_variant(*, variant: Variant, changes: Mapping[str, object], now: datetime) -> None:
    """Change a variant, and the backorder rule of its stock levels.

    Raises `ValidationFailed`, `SkuTaken`, and `StockBelowCommitted` if the stock doesn't cover backorders that end.
    """
    changes = VARIANT.check(changes, partial=True)
    locked = lock(Variant.objects.all()).get(pk=variant.pk)
    for name, value in changes.items():
        setattr(locked, name, value)
    locked.save(update_fields=[*changes, "updated_at"])
    if changes.keys() & {"track_inventory", "allow_backorder"}:
        change_backorder_rule(locked, now=now)


def archive_variant(*, variant: Variant, now: datetime) -> None:
    """Take a variant off sale and free its SKU. Repeated, nothing changes."""
    live = Variant.objects.filter(pk=variant.pk, archived_at__isnull=True)
    live.update(archived_at=now, updated_at=now)


def insert_variants(product: Product, drafts: dict[str, dict[str, Any]]) -> list[Variant]:
    """Insert variants with their prices in a fixed number of statements. Keys are the paths in the request."""
    currencies = _load_currencies(drafts)
    variants = Variant.objects.bulk_create(
        Variant(product=product, **{name: value for name, value in draft.items() if name != "pricing"})
        for draft in drafts.values()
    )
    VariantPricing.objects.bulk_create(
        VariantPricing(
            variant=variant, **price | {"currency": price.get("currency") or currencies[price["market_id"]]}
        )
        for variant, draft in zip(variants, drafts.values(), strict=True)
        for price in draft.get("pricing", [])
    )
    return variants


def _load_currencies(drafts: dict[str, dict[str, Any]]) -> dict[int, str]:
    """Load the currencies of the named markets. Raises `ValidationFailed` with the paths of unknown ones."""
    named = {
        f"{path}pricing.{index}.market_id": price["market_id"]
        for path, draft in drafts.items()
        for index, price in enumerate(draft.get("pricing", []))
    }
    currencies = find_market_currencies(named.values())
    unknown = [path for path, market_id in named.items() if market_id not in currencies]
    if unknown:
        raise ValidationFailed.unknown(*unknown)
    return currencies
