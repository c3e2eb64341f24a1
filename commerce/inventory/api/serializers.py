from rest_framework import serializers

from commerce.inventory.models import InventoryAdjustment
from commerce.inventory.rules import MAX_DELTA, MAX_NAME, MAX_PRIORITY
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class LocationInput(Input):
    handle = fields.HandleField()
    name = fields.TextField(max_length=MAX_NAME)
    priority = fields.IntegerField(required=False, min_value=1, max_value=MAX_PRIORITY)
    is_active = fields.BooleanField(required=False)


class LocationOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField()
    name = serializers.CharField()
    priority = serializers.IntegerField()
    is_active = serializers.BooleanField()
    created_at = TimestampField()
    updated_at = TimestampField()


class LevelFilter(Input):
    variant_id = fields.IdField(required=False)
    location_id = fields.IdField(required=False)


class AdjustmentInput(Input):
    variant_id = fields.IdField()
    location_id = fields.IdField()
    delta = fields.IntegerField(min_value=-MAX_DELTA, max_value=MAX_DELTA)
    reason = serializers.ChoiceField(InventoryAdjustment.Reason.values)


class LevelOutput(Output):
    id = fields.IdField()
    variant_id = fields.IdField()
    location_id = fields.IdField()
    on_hand = serializers.IntegerField()
    reserved = serializers.IntegerField()
    committed = serializers.IntegerField()
    available = serializers.IntegerField()
    updated_at = TimestampField()
