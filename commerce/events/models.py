from django.db import models

from commerce.tenancy.models import AccountOwned
from commerce.versions import current_version_name


class Event(AccountOwned):
    """Something that happened in an account. Append-only; clients read in order of ids."""

    type = models.CharField(max_length=64)
    data = models.JSONField()
    occurred_at = models.DateTimeField()
    # What `data` was made for. The database's default is for processes of a release that doesn't know the column.
    api_version = models.CharField(max_length=16, default=current_version_name, db_default="2026-01")

    class Meta(AccountOwned.Meta):
        db_table = "events"
        indexes = [models.Index(fields=["account", "type", "id"], name="events_by_type")]

    def __str__(self) -> str:
        return f"{self.type} {self.pk}"
