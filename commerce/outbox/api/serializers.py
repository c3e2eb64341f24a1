from rest_framework import serializers

from commerce.outbox.models import OutboxDispatch
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class DispatchFilters(Input):
    status = serializers.ChoiceField(OutboxDispatch.Status.choices, required=False)
    task_name = fields.TextField(required=False, max_length=100)


class TargetOutput(Output):
    task_name = serializers.CharField()


class DispatchOutput(Output):
    id = fields.IdField()
    dispatch_type = serializers.CharField()
    target = TargetOutput()
    payload = fields.ObjectField()
    payload_version = serializers.IntegerField()
    idempotency_key = serializers.CharField()
    status = serializers.ChoiceField(OutboxDispatch.Status.choices)
    attempts = serializers.IntegerField(help_text="Retries so far, not counting the first run.")
    max_attempts = serializers.IntegerField()
    due_at = TimestampField(help_text="When it may run next.")
    locked_until = TimestampField(allow_null=True)
    last_error = serializers.CharField(
        help_text="The error of the last failed run; empty if none has failed."
    )
    created_at = TimestampField()
    finished_at = TimestampField(allow_null=True)
