from typing import Any

from commerce.errors import NotFound

from .models import TaxRate


def create_tax_rate(*, fields: dict[str, Any]) -> TaxRate:
    """A new rate. Raises `TaxRateExists` through the unique key."""
    return TaxRate.objects.create(**fields)


def update_tax_rate(*, tax_rate: TaxRate, changes: dict[str, Any]) -> TaxRate:
    """Change a rate; orders keep what they froze. Raises `TaxRateExists` through the unique key."""
    for name, value in changes.items():
        setattr(tax_rate, name, value)
    tax_rate.save(update_fields=[*changes, "updated_at"])
    return tax_rate


def delete_tax_rate(*, tax_rate_id: int) -> None:
    """Without a rate the class is taxed at 0. Raises `NotFound`."""
    deleted, _ = TaxRate.objects.filter(pk=tax_rate_id).delete()
    if not deleted:
        raise NotFound
