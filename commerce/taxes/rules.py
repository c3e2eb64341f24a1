"""What a tax rate must be like, whichever interface it comes through."""

from commerce.money import BASIS_POINTS
from commerce.rules import Fields, country, integer, text, token

MAX_NAME = 100

TAX_RATE = Fields(
    required={"country_code": country, "rate_bp": integer(max_value=BASIS_POINTS)},
    optional={"tax_class": token, "name": text(MAX_NAME, may_be_blank=True)},
)
