from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from commerce.catalog.errors import ProductArchived, TooManyVariants
from commerce.catalog.hooks import find_market_currencies, run_backorder_steps
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.catalog.rules import NEW_VARIANT, NEW_VARIANTS, VARIANT
from commerce.errors import ValidationFailed
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock

from .sizes import lock_product, require_size

MAX_VARIANTS_PER_PRODUCT = 2_000


def add_variant(*, product_id: int, fields: Mapping[str, object]) -> Variant:
    """Add a variant, which may have its `pricing`, to a product.

    Raises `NotFound`, `ValidationFailed`, also for unknown markets, `ProductArchived`, `TooManyVariants`, `TooLarge` if
    the product gets too many prices, and `SkuTaken` through the unique key.
    """
    (variant,) = _add_checked(product_id, {"": NEW_VARIANT.check(fields)})
    return variant


def add_variants(*, product_id: int, variants: Sequence[Mapping[str, object]]) -> list[Variant]:
    """Add up to `MAX_VARIANTS` variants to a product at once. Raises as `add_variant` does, and then adds none."""
    checked = NEW_VARIANTS.check({"variants": variants})["variants"]
    return _add_checked(product_id, {f"variants.{index}.": draft for index, draft in enumerate(checked)})


def _add_checked(product_id: int, drafts: dict[str, dict[str, Any]]) -> list[Variant]:
    # Locked, so that the product isn't archived meanwhile, and two requests don't both add the last variant allowed.
    locked = lock_product(product_id)
    if locked.status == Product.Status.ARCHIVED:
        raise ProductArchived
    live = Variant.objects.filter(product=locked, archived_at__isnull=True).count()
    if live + len(drafts) > MAX_VARIANTS_PER_PRODUCT:
        raise TooManyVariants(max_variants=MAX_VARIANTS_PER_PRODUCT)
    variants = insert_variants(locked, drafts)
    require_size(locked, field="pricing")
    return variants


def update_variant(*, variant_id: int, changes: Mapping[str, object], now: datetime) -> None:
    """Change a variant, and the backorder rule of its stock levels.

    Raises `NotFound`, `ValidationFailed`, `SkuTaken`, `TooLarge` if a longer title is too much for its product, and
    `StockBelowCommitted` if the stock doesn't cover backorders that end.
    """
    changes = VARIANT.check(changes, partial=True)
    product = None
    if "title" in changes:
        product = lock_product(get_or_not_found(Variant.objects, pk=variant_id).product_id)
    # A stock level that is created now copies the backorder rule under a shared lock of the variant.
    locked = get_or_not_found(lock(Variant.objects.all()), pk=variant_id)
    grows = len(str(changes.get("title", ""))) > len(locked.title)
    locked.save_changes(changes)
    if product is not None and grows:
        require_size(product, field="title")
    if changes.keys() & {"track_inventory", "allow_backorder"}:
        run_backorder_steps(locked, now=now)


def archive_variant(*, variant_id: int, now: datetime) -> None:
    """Take a variant off sale and free its SKU. Repeated, nothing changes. An unknown one is ignored."""
    # Only live ones, so that the time of the first archiving stays.
    live = Variant.objects.filter(pk=variant_id, archived_at__isnull=True)
    live.update(archived_at=now, updated_at=now)


def insert_variants(product: Product, drafts: dict[str, dict[str, Any]]) -> list[Variant]:
    """Insert variants with their prices in a fixed number of statements. Keys are the paths in the request.

    Raises `ValidationFailed` with the paths of unknown markets.
    """
    market_ids = {
        f"{path}pricing.{index}.market_id": price["market_id"]
        for path, draft in drafts.items()
        for index, price in enumerate(draft.get("pricing", []))
    }
    currencies = find_market_currencies(market_ids.values())
    unknown = [path for path, market_id in market_ids.items() if market_id not in currencies]
    if unknown:
        raise ValidationFailed.unknown(*unknown)
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
