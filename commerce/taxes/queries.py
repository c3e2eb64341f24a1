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


def rates_for(country_code: str) -> dict[str, int]:
    """The rates of a country by tax class, in basis points. A missing class is taxed at 0."""
    return dict(tax_rates().filter(country_code=country_code).values_list("tax_class", "rate_bp"))
