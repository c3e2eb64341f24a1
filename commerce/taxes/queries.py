from .models import TaxRate

STANDARD = "standard"


def rates_for(country_code: str) -> dict[str, int]:
    """The rates of a country in basis points by tax class; a class without one is taxed at 0."""
    return dict(TaxRate.objects.filter(country_code=country_code).values_list("tax_class", "rate_bp"))
