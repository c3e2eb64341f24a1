from django.db import models

from commerce.tenancy.models import AccountOwned


class Event(AccountOwned):
    """Something that happened in an account. Append-only; clients read in order of ids."""

    type = models.CharField(max_length=64)
    data = models.JSONField()
    occurred_at = models.DateTimeField()

    class Meta(AccountOwned.Meta):
        db_table = "events"
        indexes = [models.Index(fields=["account", "type", "id"], name="events_by_type")]

    def __str__(self) -> str:
        return f"{self.type} {self.pk}"
