from django.db import models

from commerce.tenancy.models import AccountOwned


class TaxRate(AccountOwned):
    """The rate of a tax class in a country, in basis points (2100 = 21 %). Without a row it is 0."""

    country_code = models.CharField(max_length=2)
    tax_class = models.CharField(max_length=64, default="standard")
    rate_bp = models.PositiveIntegerField()
    name = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "tax_rates"
        constraints = [
            models.UniqueConstraint(fields=["account", "country_code", "tax_class"], name="tax_rates_class"),
            models.CheckConstraint(condition=models.Q(rate_bp__lte=10_000), name="tax_rates_rate"),
        ]

    def __str__(self) -> str:
        return f"{self.country_code} {self.tax_class} {self.rate_bp / 100:g} %"
