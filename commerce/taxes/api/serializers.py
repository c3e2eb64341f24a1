from rest_framework import serializers

from commerce.money import BASIS_POINTS
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from commerce.taxes.rules import MAX_NAME


class TaxRateInput(Input):
    described_by = "TaxRateOutput"

    country_code = fields.CountryField()
    tax_class = fields.TokenField(required=False)
    rate_bp = fields.IntegerField(max_value=BASIS_POINTS)
    name = fields.TextField(required=False, allow_blank=True, max_length=MAX_NAME)


class TaxRateOutput(Output):
    id = fields.IdField()
    country_code = serializers.CharField(help_text="The country in which it is charged.")
    tax_class = serializers.CharField(help_text="Which variants it is for, such as `standard` or `reduced`.")
    rate_bp = serializers.IntegerField(help_text="The rate.")
    name = serializers.CharField(help_text="What people call it, such as `MwSt.`.")
    created_at = TimestampField()
    updated_at = TimestampField()
