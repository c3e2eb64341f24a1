"""Stores what was read from another shop system, through the operations that the API calls.

Each function adds what is missing. With `updates`, it also changes what differs from the file. What was archived or
redacted here stays so. All of a draft is stored, or nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Q

from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.catalog.operations import (
    add_variant,
    add_variants,
    create_product,
    set_pricing,
    update_product,
    update_variant,
)
from commerce.catalog.rules import MAX_VARIANTS
from commerce.customers.models import Customer, normalise_email
from commerce.customers.operations import create_customer, update_customer
from commerce.database_errors import refusal_from_database
from commerce.errors import FieldError, Refusal
from commerce.inventory.levels import lock_levels
from commerce.inventory.models import InventoryAdjustment
from commerce.inventory.operations import adjust_level
from commerce.tenancy.locks import lock, lock_now

from .drafts import CustomerDraft, Problem, ProductDraft, StockDraft, VariantDraft

_VARIANT_FIELDS = ("title", "weight_grams", "tax_class", "track_inventory", "allow_backorder")


class Change(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class DraftRefused(Exception):
    """An operation refused a draft, and nothing of it was stored."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


class VariantMissing(DraftRefused):
    """Stock of a variant that isn't here."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the prices and the stock of products go."""

    market_id: int
    location_id: int


def import_product(draft: ProductDraft, *, target: Target, updates: bool, now: datetime) -> Change:
    """Store a product with its variants, their prices in one market and their stock at one location.

    Stock is set only for variants that are added, unless it `updates`: units may have been sold here since. Raises
    `DraftRefused`.
    """
    with transaction.atomic():
        product = Product.objects.filter(handle=draft.handle).first()
        if product is None:
            _create_product(draft, target, now)
            return Change.ADDED
        if product.status == Product.Status.ARCHIVED:
            return Change.UNCHANGED
        # All at once, and in the order of locks: operations on one variant follow those on another.
        lock_now(Product.objects.filter(pk=product.pk))
        lock_now(Variant.objects.filter(product=product))
        if updates:
            lock_levels(Q(variant__in=Variant.objects.filter(product=product)))
        changes = [
            _update_product(product, draft, now=now) if updates else False,
            _complete_variants(product, draft, target, updates=updates, now=now),
        ]
        return Change.CHANGED if any(changes) else Change.UNCHANGED


def _create_product(draft: ProductDraft, target: Target, now: datetime) -> None:
    fields = {name: getattr(draft, name) for name in ("handle", "title", "description", "status")}
    # An operation takes only so many at once.
    first, rest = draft.variants[:MAX_VARIANTS], draft.variants[MAX_VARIANTS:]
    with _name_lines(draft.line, first):
        product = create_product(fields=fields, variants=[_list_fields(each, target) for each in first])
    for start in range(0, len(rest), MAX_VARIANTS):
        part = rest[start : start + MAX_VARIANTS]
        with _name_lines(part[0].line, part):
            add_variants(product_id=product.pk, variants=[_list_fields(each, target) for each in part])
    lock_now(Variant.objects.filter(product=product))
    ids = dict(Variant.objects.filter(product=product).values_list("sku", "pk"))
    for variant in draft.variants:
        _set_stock(variant, ids[variant.sku], target, now=now, is_new=True)


def _list_fields(variant: VariantDraft, target: Target) -> dict[str, object]:
    pricing = [] if variant.price_cents is None else [_list_price_fields(variant, target)]
    return {
        "sku": variant.sku,
        "pricing": pricing,
        **{name: getattr(variant, name) for name in _VARIANT_FIELDS},
    }


def _list_price_fields(variant: VariantDraft, target: Target) -> dict[str, object]:
    return {
        "market_id": target.market_id,
        "price_cents": variant.price_cents,
        "compare_at_price_cents": variant.compare_at_price_cents,
    }


def _update_product(product: Product, draft: ProductDraft, *, now: datetime) -> bool:
    names = ("title", "description", "status")
    changes = {name: getattr(draft, name) for name in names if getattr(product, name) != getattr(draft, name)}
    if changes:
        with _name_lines(draft.line):
            update_product(product_id=product.pk, changes=changes, now=now)
    return bool(changes)


def _complete_variants(
    product: Product, draft: ProductDraft, target: Target, *, updates: bool, now: datetime
) -> bool:
    """Add variants and prices that are missing, and change others if it `updates`. Return whether anything changed."""
    # Of a variant that was archived and one that took its SKU, the live one.
    stored = {each.sku: each for each in product.variants.order_by("-archived_at", "pk")}
    prices = {
        price.variant_id: price
        for price in VariantPricing.objects.filter(variant__product=product, market_id=target.market_id)
    }
    is_changed = False
    for variant in draft.variants:
        known = stored.get(variant.sku)
        with _name_lines(variant.line):
            if known is None:
                added = add_variant(product_id=product.pk, fields=_list_fields(variant, target))
                _set_stock(variant, added.pk, target, now=now, is_new=True)
                is_changed = True
            elif known.archived_at is None:
                changes = [
                    _update_variant(known, variant, now=now) if updates else False,
                    _set_price(variant, known, prices.get(known.pk), target, updates=updates),
                    _set_stock(variant, known.pk, target, now=now) if updates else False,
                ]
                is_changed = is_changed or any(changes)
    return is_changed


def _update_variant(stored: Variant, draft: VariantDraft, *, now: datetime) -> bool:
    changes = {
        name: getattr(draft, name)
        for name in _VARIANT_FIELDS
        if getattr(stored, name) != getattr(draft, name)
    }
    if changes:
        update_variant(variant_id=stored.pk, changes=changes, now=now)
    return bool(changes)


def _set_price(
    draft: VariantDraft, variant: Variant, price: VariantPricing | None, target: Target, *, updates: bool
) -> bool:
    if draft.price_cents is None or (price is not None and not updates):
        return False
    wanted = (draft.price_cents, draft.compare_at_price_cents)
    if price is not None and wanted == (price.price_cents, price.compare_at_price_cents):
        return False
    set_pricing(variant_id=variant.pk, fields=_list_price_fields(draft, target))
    return True


def _set_stock(
    draft: VariantDraft, variant_id: int, target: Target, *, now: datetime, is_new: bool = False
) -> bool:
    if draft.stock is None:
        return False
    with _name_lines(draft.line):
        return _set_units(variant_id, target.location_id, draft.stock, now=now, is_new=is_new)


def _set_units(variant_id: int, location_id: int, units: int, *, now: datetime, is_new: bool) -> bool:
    """Bring a level to this many units on hand. Return whether it had others. The caller has locked the variant."""
    # Locked before it is read: units may be sent to a customer meanwhile. Nobody creates it, as that takes the variant.
    levels = lock_levels(Q(variant_id=variant_id, location_id=location_id))
    delta = units - (levels[0].on_hand if levels else 0)
    reasons = InventoryAdjustment.Reason
    if delta:
        adjust_level(
            variant_id=variant_id,
            location_id=location_id,
            delta=delta,
            reason=reasons.RECEIVED if is_new else reasons.COUNT,
            now=now,
        )
    return bool(delta)


def import_level(draft: StockDraft, *, location_id: int, updates: bool, now: datetime) -> Change:
    """Set the units of a variant at a location. One that has got units here is changed only if it `updates`.

    Raises `DraftRefused`, and `VariantMissing` if no variant has the SKU.
    """
    with transaction.atomic(), _name_lines(draft.line):
        # Locked, so that of two imports of the same file the second sees the units that the first has added.
        variant = lock(Variant.objects.filter(sku=draft.sku, archived_at__isnull=True)).first()
        if variant is None:
            raise VariantMissing([Problem(draft.line, f"There is no variant {draft.sku}.")])
        # Not whether there is a level: selling what may be sold without stock creates one.
        adjustments = InventoryAdjustment.objects.filter(level__variant=variant, level__location=location_id)
        is_new = not adjustments.exists()
        if not (is_new or updates) or not variant.track_inventory:
            return Change.UNCHANGED
        if not _set_units(variant.pk, location_id, draft.on_hand, now=now, is_new=is_new):
            return Change.UNCHANGED
        return Change.ADDED if is_new else Change.CHANGED


def import_customer(draft: CustomerDraft, *, updates: bool, now: datetime) -> Change:
    """Store a customer, found by the email address. Raises `DraftRefused`."""
    given = {
        "first_name": draft.first_name,
        "last_name": draft.last_name,
        "phone": draft.phone,
        "country_code": draft.country_code.upper(),
        "tags": list(dict.fromkeys(draft.tags)),
    }
    # An empty cell says nothing.
    given = {name: value for name, value in given.items() if value}
    with transaction.atomic(), _name_lines(draft.line):
        stored = Customer.objects.filter(normalised_email=normalise_email(draft.email)).first()
        if stored is None:
            create_customer(fields={"email": draft.email, **given})
            return Change.ADDED
        changes = {name: value for name, value in given.items() if getattr(stored, name) != value}
        if not (updates and changes):
            return Change.UNCHANGED
        update_customer(customer_id=stored.pk, changes=changes, now=now)
        return Change.CHANGED


@contextmanager
def _name_lines(line: int, variants: tuple[VariantDraft, ...] = ()) -> Iterator[None]:
    """Turn what an operation refuses into `DraftRefused`, with the line of each error."""
    try:
        yield
    except Refusal as refusal:
        errors = [_describe(error, line, variants) for error in refusal.errors]
        raise DraftRefused(errors or [Problem(line, f"{refusal.detail}.")]) from None
    except (DatabaseError, InterfaceError) as error:
        found = refusal_from_database(error)
        # Others are failures of the server, which concern every line.
        if found is None or found.status >= 500:
            raise
        raise DraftRefused([Problem(line, f"{found.detail}.")]) from None


def _describe(error: FieldError, line: int, variants: tuple[VariantDraft, ...]) -> Problem:
    """Name the line of an error at a path such as `variants.3.sku`."""
    match error.field.split(".", 2):
        case ["variants", index, field] if index.isdigit() and int(index) < len(variants):
            return Problem(variants[int(index)].line, f"{field}: {error.detail}")
        case _:
            return Problem(line, f"{error.field}: {error.detail}")
