from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from commerce.outbox.models import KeySpace, key_space_field
from commerce.prefixes import prefix_index
from commerce.sizes import at_most_bytes
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned
from emails.own_templates.models import EmailTemplateVersion
from emails.renderer.limits import MAX_LINE_CHARACTERS
from emails.sender_domains.models import SenderDomain

__all__ = ["EmailDelivery", "EmailDeliveryEvent", "EmailTemplateVersion", "MailServerRest", "SenderDomain"]


class EmailDelivery(AccountOwned):
    """A message that a provider has accepted, and its delivery status."""

    class Status(models.TextChoices):
        SENT = "sent"
        DELIVERED = "delivered"
        OPENED = "opened"
        CLICKED = "clicked"
        BOUNCED = "bounced"

    template_key = models.CharField(max_length=100)
    customer = AccountForeignKey("customers.Customer", null=True, related_name="+")
    to_email = models.CharField(max_length=254)
    locale = models.CharField(max_length=16)
    subject = models.TextField()
    html = models.TextField()
    text = models.TextField()
    ctx = models.JSONField(default=dict)
    provider = models.CharField(max_length=64)
    provider_message_id = models.CharField(max_length=255)
    key_space = key_space_field()
    idempotency_key = models.CharField(max_length=255)
    reference_type = models.CharField(max_length=64, null=True)
    # Not a foreign key: it may be any kind of row, also one that only the client of the API knows.
    reference_id = models.BigIntegerField(null=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.SENT)
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField(null=True)
    first_clicked_at = models.DateTimeField(null=True)
    bounced_at = models.DateTimeField(null=True)

    class Meta(AccountOwned.Meta):
        db_table = "email_deliveries"
        verbose_name_plural = "email deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "key_space", "idempotency_key"], name="email_deliveries_key"
            ),
            models.CheckConstraint(
                condition=Q(key_space__in=KeySpace.values), name="email_deliveries_key_space"
            ),
            # A character has up to four bytes.
            at_most_bytes("subject", 4 * MAX_LINE_CHARACTERS, name="email_deliveries_subject_size"),
        ]
        indexes = [
            # Without the account, which a provider's event doesn't name.
            models.Index(fields=["provider_message_id"], name="email_deliveries_message"),
            models.Index(
                fields=["account", "customer"],
                condition=Q(customer__isnull=False),
                name="email_deliveries_customer",
            ),
            models.Index(
                fields=["account", "reference_type", "reference_id"], name="email_deliveries_reference"
            ),
            models.Index(fields=["account", "status", "id"], name="email_deliveries_status"),
            models.Index(fields=["account", "template_key", "id"], name="email_deliveries_template"),
            # Statistics are counted from the index alone, as the rows are large.
            models.Index(
                fields=["account", "sent_at"],
                include=["delivered_at", "opened_at", "bounced_at"],
                name="email_deliveries_sent",
            ),
            # For the list of those that bounced.
            models.Index(
                fields=["account", "sent_at"],
                condition=Q(bounced_at__isnull=False),
                name="email_deliveries_bounced",
            ),
            prefix_index("to_email", name="email_deliveries_recipient"),
        ]

    def __str__(self) -> str:
        return _("%(template)s to %(address)s") % {"template": self.template_key, "address": self.to_email}


class EmailDeliveryEvent(AccountOwned):
    """An event from the provider, once each. It holds no personal data: append-only rows can't be redacted."""

    delivery = AccountForeignKey(EmailDelivery, related_name="+")
    event_key = models.CharField(max_length=255)
    type = models.CharField(max_length=64)
    occurred_at = models.DateTimeField()
    received_at = models.DateTimeField()

    class Meta(AccountOwned.Meta):
        db_table = "email_delivery_events"
        constraints = [
            models.UniqueConstraint(fields=["account", "event_key"], name="email_delivery_events_key"),
        ]
        indexes = [models.Index(fields=["account", "delivery"], name="email_delivery_events_of")]

    def __str__(self) -> str:
        return f"{self.type} at {self.occurred_at:%Y-%m-%d %H:%M:%S}"


class MailServerRest(AccountOwned):
    """An account's own provider or mail server that didn't answer, and when it may be tried again."""

    server = models.CharField(max_length=300)
    failures = models.PositiveIntegerField(help_text="Tries without an answer, in a row")
    rests_until = models.DateTimeField()

    class Meta(AccountOwned.Meta):
        db_table = "mail_server_rests"
        constraints = [models.UniqueConstraint(fields=["account"], name="mail_server_rests_once")]

    def __str__(self) -> str:
        return self.server
