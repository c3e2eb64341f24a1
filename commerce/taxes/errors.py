from commerce.errors import Refusal


class TaxRateExists(Refusal):
    status = 409
    code = "tax_rate_exists"
    title = "The country already has a rate for this tax class"
    constraints = ("tax_rates_class",)


class VatNumberInvalid(Refusal):
    """Its errors name the field. A number that VIES doesn't know isn't refused, but stored as `invalid`."""

    status = 422
    code = "vat_number_invalid"
    title = "This doesn't have the form of an EU VAT number"
