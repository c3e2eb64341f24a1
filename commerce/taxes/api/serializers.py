from rest_framework import serializers

from commerce.money import BASIS_POINTS
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from commerce.taxes.rules import MAX_NAME


class TaxRateInput(Input):
    country_code = fields.CountryField()
    tax_class = fields.TokenField(required=False)
    rate_bp = fields.IntegerField(max_value=BASIS_POINTS)
    name = fields.TextField(required=False, allow_blank=True, max_length=MAX_NAME)


class TaxRateOutput(Output):
    id = fields.IdField()
    country_code = serializers.CharField()
    tax_class = serializers.CharField()
    rate_bp = serializers.IntegerField()
    name = serializers.CharField()
    created_at = TimestampField()
    updated_at = TimestampField()
