from collections.abc import Mapping

from commerce.errors import NotFound
from commerce.queries import get_or_not_found

from .models import TaxRate
from .rules import TAX_RATE


def create_tax_rate(*, fields: Mapping[str, object]) -> TaxRate:
    """Create a tax rate. Raises `ValidationFailed`, and `TaxRateExists` through the unique key."""
    return TaxRate.objects.create(**TAX_RATE.check(fields))


def update_tax_rate(*, tax_rate_id: int, changes: Mapping[str, object]) -> TaxRate:
    """Change a tax rate. Orders keep the rate they were placed with.

    Raises as `create_tax_rate` does, and `NotFound`.
    """
    tax_rate = get_or_not_found(TaxRate.objects, pk=tax_rate_id)
    changes = TAX_RATE.check(changes, partial=True)
    tax_rate.save_changes(changes)
    return tax_rate


def delete_tax_rate(*, tax_rate_id: int) -> None:
    """Delete a tax rate; its class is then taxed at 0. Raises `NotFound`."""
    # Orders and checkouts keep their own copy of the rate, so no row refers to it.
    deleted, _ = TaxRate.objects.filter(pk=tax_rate_id).delete()
    if not deleted:
        raise NotFound
