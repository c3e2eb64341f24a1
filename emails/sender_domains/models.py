from datetime import datetime

from django.db import models

from commerce.tenancy.models import AccountOwned

# RFC 8552: names with an underscore are no host names, so the record doesn't collide with others of the domain.
RECORD_PREFIX = "_commerce"


class SenderDomain(AccountOwned):
    """A domain that an account wants to send from, and whether its owner has published the account's token."""

    class Failure(models.TextChoices):
        RECORD_NOT_FOUND = "record_not_found"
        DNS_UNAVAILABLE = "dns_unavailable"

    domain = models.CharField(max_length=253, help_text="In its ASCII form, in lower case")
    token = models.CharField(max_length=64)
    verified_at = models.DateTimeField(null=True, help_text="When it was verified")
    checked_at = models.DateTimeField(null=True, help_text="When name servers last answered")
    missing_since = models.DateTimeField(
        null=True, help_text="When the record of a verified domain was first missing"
    )
    failure_code = models.CharField(max_length=32, choices=Failure, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "sender_domains"
        constraints = [models.UniqueConstraint(fields=["account", "domain"], name="sender_domains_domain")]
        # For `is_anothers_domain`, which looks for a domain in all accounts.
        indexes = [
            models.Index(
                fields=["domain"],
                condition=models.Q(verified_at__isnull=False),
                name="sender_domains_verified",
            )
        ]

    def __str__(self) -> str:
        return self.domain

    @property
    def status(self) -> str:
        return "pending" if self.verified_at is None else "verified"

    @property
    def record_name(self) -> str:
        return f"{RECORD_PREFIX}.{self.domain}"

    @property
    def record_value(self) -> str:
        return f"commerce-sender={self.token}"

    def is_due(self, now: datetime, *, after: float) -> bool:
        """Whether the last answer of the name servers is older than this many seconds."""
        return self.checked_at is None or (now - self.checked_at).total_seconds() > after
