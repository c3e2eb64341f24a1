from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext as _

from commerce.prefixes import prefix_index
from commerce.tenancy.models import AccountOwned


def normalise_email(email: str) -> str:
    """Trim and lower-case an address. Two addresses are the same if this form is."""
    # RFC 5321 lets the part before the @ depend on case, but people type their own address in any case.
    return email.strip().lower()


class Customer(AccountOwned):
    """A buyer of one account. Redaction erases the personal data and keeps the row for accounting."""

    # Null once the customer is redacted.
    email = models.CharField(max_length=254, null=True, blank=True)
    # Identifies the customer for usage limits, first orders and guest checkouts.
    normalised_email = models.CharField(max_length=254, null=True, blank=True, editable=False)
    first_name = models.CharField(max_length=100, blank=True)
    last_name = models.CharField(max_length=100, blank=True)
    phone = models.CharField(max_length=40, blank=True)
    locale = models.CharField(max_length=16, null=True, blank=True)
    tags = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    country_code = models.CharField(max_length=2, null=True, blank=True)
    # Created by an order rather than by the shop.
    is_guest = models.BooleanField(default=False)
    notification_preferences = models.JSONField(default=dict, blank=True)
    orders_count = models.PositiveIntegerField(default=0)
    redacted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # Not a column: set by `with_spending`.
    total_spent_cents: int

    class Meta(AccountOwned.Meta):
        db_table = "customers"
        constraints = [
            # Redacted customers have no address, and nulls are never equal.
            models.UniqueConstraint(fields=["account", "normalised_email"], name="customers_email"),
            # Nothing may bring personal data back, whichever statement tries.
            models.CheckConstraint(
                condition=models.Q(redacted_at__isnull=True)
                | models.Q(email__isnull=True, normalised_email__isnull=True),
                name="customers_redacted_without_email",
            ),
        ]
        indexes = [
            prefix_index("normalised_email", name="customers_email_prefix"),
            prefix_index("first_name", name="customers_first_name"),
            prefix_index("last_name", name="customers_last_name"),
            models.Index(fields=["account", "created_at"], name="customers_created"),
        ]

    def __str__(self) -> str:
        return self.email or _("redacted customer %(id)s") % {"id": self.pk}


class Segment(AccountOwned):
    """A saved filter of customers."""

    handle = models.CharField(max_length=63)
    name = models.CharField(max_length=200)
    filter = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "segments"
        constraints = [models.UniqueConstraint(fields=["account", "handle"], name="segments_handle")]

    def __str__(self) -> str:
        return self.name
