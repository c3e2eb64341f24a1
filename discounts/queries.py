from typing import Any

from django.db.models import Model, QuerySet

from accounts.models import Market
from commerce.caseless import matches_caseless
from commerce.catalog.models import Product, Variant
from commerce.customers.models import Customer, Segment
from commerce.errors import ValidationFailed
from commerce.queries import get_or_not_found

from .evaluation import Mechanic, list_ids
from .models import Discount, DiscountRedemption
from .rules import normalise_code

# What lists of ids contain, by their names.
ID_MODELS: dict[str, type[Model]] = {
    "product_ids": Product,
    "variant_ids": Variant,
    "market_ids": Market,
    "segment_ids": Segment,
    "customer_ids": Customer,
}


def discounts(*, code: str | None = None, **filters: str) -> QuerySet[Discount]:
    """Return the account's discounts, including archived ones; codes ignore case."""
    # The effective status of a gift card's discount depends on its voucher.
    found = Discount.objects.select_related("voucher").filter(**filters)
    return found if code is None else found.filter(matches_caseless("code", normalise_code(code)))


def get_discount(discount_id: int) -> Discount:
    """Return a discount of the account in scope, also an archived one; raises `NotFound`."""
    return get_or_not_found(discounts(), pk=discount_id)


def redemptions(*, code: str | None = None, **filters: int) -> QuerySet[DiscountRedemption]:
    """Return the account's ledger of uses; codes ignore case."""
    found = DiscountRedemption.objects.filter(**filters)
    return found if code is None else found.filter(code__iexact=normalise_code(code))


def require_known_ids(fields: dict[str, Any], mechanic: Mechanic) -> None:
    """Raise `ValidationFailed` for ids unknown in this account. One statement for each kind of id."""
    lists = [(kind, kind, fields.get(kind) or []) for kind in ID_MODELS]
    if mechanic.column and mechanic.config and (config := fields.get(mechanic.column)):
        lists += list_ids(mechanic.config, config, mechanic.column)
    unknown = []
    for kind, model in ID_MODELS.items():
        lists_of_kind = [(path, ids) for named, path, ids in lists if named == kind]
        asked = {row_id for _, ids in lists_of_kind for row_id in ids}
        # Ids in arrays and JSON have no foreign keys, and the manager finds only rows of the account in scope.
        rows = model._default_manager.filter(pk__in=asked).values_list("pk", flat=True) if asked else ()
        known = set(rows)
        unknown += [
            f"{path}.{index}"
            for path, ids in lists_of_kind
            for index, row_id in enumerate(ids)
            if row_id not in known
        ]
    if unknown:
        raise ValidationFailed.unknown(*unknown)
