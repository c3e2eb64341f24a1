from django.db import models
from django.db.models.fields.json import KT

from commerce.tenancy.models import AccountOwned


class KeySpace(models.TextChoices):
    """Who chose an idempotency key. Equal keys in different spaces are different keys."""

    PRODUCT = "product"
    CALLER = "caller"


def key_space_field() -> models.CharField:
    """Processes of an older release don't set the column. Its default marks their rows, whose space a trigger sets."""
    return models.CharField(max_length=16, choices=KeySpace, default=KeySpace.PRODUCT, db_default="")


class OutboxDispatch(AccountOwned):
    """Work to be done after the commit that inserted it, at least once and by one worker at a time."""

    class Status(models.TextChoices):
        PENDING = "pending"
        PROCESSING = "processing"
        SUCCEEDED = "succeeded"
        SKIPPED = "skipped"
        DEAD = "dead"
        CANCELLED = "cancelled"

    dispatch_type = models.CharField(max_length=16, default="task")
    target = models.JSONField(help_text='What handles it: {"task_name": "send_email"}')
    payload = models.JSONField(default=dict)
    payload_version = models.PositiveSmallIntegerField(default=1)
    key_space = key_space_field()
    idempotency_key = models.CharField(max_length=255, help_text="Sent to the outside service with every try")
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="Retries so far, not counting the first run"
    )
    max_attempts = models.PositiveSmallIntegerField(default=5)
    due_at = models.DateTimeField(help_text="When it may run next")
    locked_until = models.DateTimeField(null=True, help_text="The lease of the worker that claimed it")
    last_error = models.TextField(blank=True)
    message = models.JSONField(null=True, help_text="The rendered message, stored before the first hand-off")
    request_id = models.CharField(
        max_length=128, null=True, blank=True, help_text="Of the request that enqueued it, for the log"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta(AccountOwned.Meta):
        db_table = "outbox_dispatches"
        verbose_name_plural = "outbox dispatches"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "key_space", "idempotency_key"], name="outbox_dispatches_key"
            ),
            models.CheckConstraint(
                condition=models.Q(key_space__in=KeySpace.values), name="outbox_dispatches_key_space"
            ),
            models.CheckConstraint(
                condition=models.Q(attempts__lte=models.F("max_attempts")), name="outbox_dispatches_attempts"
            ),
        ]
        indexes = [
            # For workers: due work, and work whose lease has run out, of all accounts.
            models.Index(
                fields=["due_at"], name="outbox_dispatches_due", condition=models.Q(status="pending")
            ),
            models.Index(
                fields=["locked_until"],
                name="outbox_dispatches_leased",
                condition=models.Q(status="processing"),
            ),
            # Due work by account and task, which take turns.
            models.Index(
                models.F("account"),
                KT("target__task_name"),
                models.F("due_at"),
                name="outbox_dispatches_queues",
                condition=models.Q(status="pending"),
            ),
            # For operators: dead work. It is kept, so every page of a shop's staff counts only the shop's own.
            models.Index(
                fields=["finished_at"], name="outbox_dispatches_dead", condition=models.Q(status="dead")
            ),
            models.Index(
                fields=["account", "id"], name="outbox_dispatches_failed", condition=models.Q(status="dead")
            ),
            models.Index(
                fields=["finished_at"],
                name="outbox_dispatches_finished",
                condition=models.Q(finished_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task_name} {self.idempotency_key}"

    @property
    def task_name(self) -> str:
        return self.target.get("task_name", "") if isinstance(self.target, dict) else ""
