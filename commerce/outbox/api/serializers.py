from rest_framework import serializers

from commerce.outbox.models import OutboxDispatch
from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField


class DispatchFilters(Input):
    described_by = "DispatchOutput"

    status = serializers.ChoiceField(OutboxDispatch.Status.choices, required=False)
    task_name = fields.TextField(
        required=False, max_length=100, help_text="Only work of this kind, such as `send_email`."
    )


class TargetOutput(Output):
    task_name = serializers.CharField(help_text="The kind of work, such as `send_email`.")


class DispatchOutput(Output):
    id = fields.IdField()
    dispatch_type = serializers.CharField(help_text="Always `task`.")
    target = TargetOutput(help_text="What runs.")
    payload = fields.ObjectField(help_text="What it is run with.")
    payload_version = serializers.IntegerField(help_text="The form of the payload.")
    idempotency_key = serializers.CharField(help_text="Unique in its kind: the same work is queued once.")
    status = serializers.ChoiceField(
        OutboxDispatch.Status.choices,
        help_text="`pending`, `processing`, `succeeded`, `skipped` as the customer doesn't want the email, `dead` after the last retry, or `cancelled`.",
    )
    attempts = serializers.IntegerField(help_text="Retries so far, not counting the first run.")
    max_attempts = serializers.IntegerField(help_text="Retries before it is dead.")
    due_at = TimestampField(help_text="When it may run next.")
    locked_until = TimestampField(
        allow_null=True, help_text="Until then a worker has it; after that, another may take it over."
    )
    last_error = serializers.CharField(
        help_text="The error of the last failed run; empty if none has failed."
    )
    created_at = TimestampField()
    finished_at = TimestampField(allow_null=True, help_text="When it ended; null while it hasn't.")
