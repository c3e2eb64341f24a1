from django.db.models import QuerySet

from commerce.errors import NotFound

from .models import TaxRate

STANDARD = "standard"


def tax_rates() -> QuerySet[TaxRate]:
    """The tax rates of the account in scope."""
    return TaxRate.objects.all()


def get_tax_rate(tax_rate_id: int) -> TaxRate:
    """A tax rate of the account in scope; raises `NotFound`."""
    tax_rate = tax_rates().filter(pk=tax_rate_id).first()
    if tax_rate is None:
        raise NotFound
    return tax_rate


def rates_for(country_code: str) -> dict[str, int]:
    """The rates of a country by tax class, in basis points. A missing class is taxed at 0."""
    return dict(tax_rates().filter(country_code=country_code).values_list("tax_class", "rate_bp"))
