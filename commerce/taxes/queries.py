from django.db.models import QuerySet

from commerce.queries import get_or_not_found

from .models import TaxRate

STANDARD = "standard"


def tax_rates() -> QuerySet[TaxRate]:
    """The tax rates of the account in scope."""
    return TaxRate.objects.all()


def get_tax_rate(tax_rate_id: int) -> TaxRate:
    """A tax rate of the account in scope; raises `NotFound`."""
    return get_or_not_found(tax_rates(), pk=tax_rate_id)
