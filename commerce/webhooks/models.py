from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned
from commerce.versions import current_version_name


class WebhookEndpoint(AccountOwned):
    """A URL to which an account has its events sent."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        PAUSED = "paused"
        DISABLED = "disabled"

    class DisabledReason(models.TextChoices):
        GONE = "gone"
        FAILING = "failing"

    url = models.CharField(max_length=1000)
    description = models.CharField(max_length=200, blank=True)
    topics = ArrayField(
        models.CharField(max_length=64), default=list, help_text="Event types; empty means all"
    )
    status = models.CharField(
        max_length=16,
        choices=Status,
        default=Status.ACTIVE,
        help_text="Paused by hand, or disabled by its failures",
    )
    disabled_reason = models.CharField(max_length=16, choices=DisabledReason, blank=True)
    paused_at = models.DateTimeField(null=True, help_text="When it was paused or disabled")
    api_version = models.CharField(
        "API version",
        max_length=16,
        default=current_version_name,
        db_default="2026-01",
        help_text="The API version of its messages: that of the request that created it",
    )
    # Not a hash: messages are signed with it.
    secret = models.CharField(max_length=64)
    previous_secret = models.CharField(max_length=64, blank=True)
    previous_secret_until = models.DateTimeField(null=True)
    consecutive_failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, help_text="When the first of these failures happened")
    rests_until = models.DateTimeField(
        null=True, help_text="It isn't called until then, because it didn't answer or was slow"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "webhook_endpoints"
        constraints = [
            # A URL gets every event once.
            models.UniqueConstraint(fields=["account", "url"], name="webhook_endpoints_url"),
            models.CheckConstraint(
                condition=Q(status="active", paused_at__isnull=True)
                | ~Q(status="active") & Q(paused_at__isnull=False),
                name="webhook_endpoints_paused_at",
            ),
            models.CheckConstraint(
                condition=Q(status="disabled") & ~Q(disabled_reason="")
                | ~Q(status="disabled") & Q(disabled_reason=""),
                name="webhook_endpoints_disabled_reason",
            ),
            models.CheckConstraint(
                condition=Q(consecutive_failures=0, failing_since__isnull=True)
                | Q(consecutive_failures__gt=0, failing_since__isnull=False),
                name="webhook_endpoints_failing_since",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    def list_signing_secrets(self, now: datetime) -> list[str]:
        """Return the secrets to sign messages with, newest first."""
        until = self.previous_secret_until
        return [self.secret, self.previous_secret] if until is not None and until > now else [self.secret]

    def find_end_of_rest(self, now: datetime) -> datetime | None:
        """Return the end of the current rest; None if the endpoint isn't resting."""
        return self.rests_until if self.rests_until is not None and self.rests_until > now else None


class WebhookDelivery(AccountOwned):
    """One try to deliver a message, with the endpoint's answer. Append-only, and pruned after a while."""

    class Status(models.TextChoices):
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    endpoint = AccountForeignKey(WebhookEndpoint, related_name="deliveries")
    message_id = models.CharField(max_length=64, help_text="The same for every try; the id of the event")
    event_type = models.CharField(max_length=64)
    attempt = models.PositiveSmallIntegerField(help_text="Counts from 1")
    status = models.CharField(max_length=16, choices=Status)
    response_status = models.PositiveSmallIntegerField(null=True, help_text="Null if there was no answer")
    response_excerpt = models.TextField(blank=True, help_text="The first KiB")
    error = models.TextField(blank=True)
    duration_ms = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta(AccountOwned.Meta):
        db_table = "webhook_deliveries"
        verbose_name_plural = "webhook deliveries"
        indexes = [
            models.Index(fields=["account", "endpoint", "id"], name="webhook_deliveries_of_endpoint"),
            # For pruning, across accounts.
            models.Index(fields=["created_at"], name="webhook_deliveries_age"),
        ]

    def __str__(self) -> str:
        return _("%(event)s %(message)s, try %(attempt)s") % {
            "event": self.event_type,
            "message": self.message_id,
            "attempt": self.attempt,
        }
