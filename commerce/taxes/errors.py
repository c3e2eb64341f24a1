from commerce.errors import Refusal


class TaxRateExists(Refusal):
    status = 409
    code = "tax_rate_exists"
    title = "The country has a rate of this tax class"
    constraints = ("tax_rates_class",)
