from commerce.errors import Refusal


class TaxRateExists(Refusal):
    status = 409
    code = "tax_rate_exists"
    title = "The country has a rate of this tax class"
    constraints = ("tax_rates_class",)


class VatNumberInvalid(Refusal):
    """Its errors name the field. What VIES does not know is no such refusal, but a status of the number."""

    status = 422
    code = "vat_number_invalid"
    title = "No EU VAT number has this form"
