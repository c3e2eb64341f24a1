from rest_framework import serializers

from commerce.inventory.models import InventoryAdjustment
from commerce.inventory.rules import MAX_DELTA, MAX_NAME, MAX_PRIORITY
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class LocationInput(Input):
    described_by = "LocationOutput"

    handle = fields.HandleField()
    name = fields.TextField(max_length=MAX_NAME)
    priority = fields.IntegerField(required=False, min_value=1, max_value=MAX_PRIORITY)
    is_active = fields.BooleanField(required=False)


class LocationOutput(Output):
    id = fields.IdField()
    handle = serializers.CharField(help_text="Unique among the shop's locations.")
    name = serializers.CharField(help_text="What staff call it.")
    priority = serializers.IntegerField(
        help_text="1 is the highest: checkouts take from the active location of the highest priority."
    )
    is_active = serializers.BooleanField(help_text="Whether checkouts may take from it.")
    created_at = TimestampField()
    updated_at = TimestampField()


class LevelFilter(Input):
    variant_id = fields.IdField(required=False, help_text="Only stock of this variant.")
    location_id = fields.IdField(required=False, help_text="Only stock at this location.")


class AdjustmentInput(Input):
    variant_id = fields.IdField()
    location_id = fields.IdField()
    delta = fields.IntegerField(
        min_value=-MAX_DELTA, max_value=MAX_DELTA, help_text="Units to add; negative takes away."
    )
    reason = serializers.ChoiceField(InventoryAdjustment.Reason.values, help_text="Why, for the records.")


class LevelOutput(Output):
    id = fields.IdField()
    variant_id = fields.IdField()
    location_id = fields.IdField()
    on_hand = serializers.IntegerField(help_text="Units at the location.")
    reserved = serializers.IntegerField(help_text="Units that open checkouts hold.")
    committed = serializers.IntegerField(help_text="Units of orders that aren't shipped yet.")
    available = serializers.IntegerField(
        help_text="Units that can be sold: on hand, less reserved and committed."
    )
    updated_at = TimestampField()
