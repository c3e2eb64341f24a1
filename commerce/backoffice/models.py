from django.db import models

from commerce.tenancy.models import AccountOwned


class StaffAction(AccountOwned):
    """What a member of the staff did by hand: append-only.

    It names no object but by number, so that redacting a customer leaves no name behind, and takes the
    place of Django's own log, which is one table for all accounts.
    """

    class Kind(models.TextChoices):
        ADDED = "added"
        CHANGED = "changed"
        DELETED = "deleted"

    username = models.CharField(max_length=150)
    kind = models.CharField(max_length=16, choices=Kind)
    subject = models.CharField(max_length=100, help_text="The model: catalog.product")
    subject_id = models.BigIntegerField()
    summary = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "staff_actions"
        indexes = [models.Index(fields=["account", "subject", "subject_id"], name="staff_actions_subject")]

    def __str__(self) -> str:
        return f"{self.username} {self.kind} {self.subject} {self.subject_id}"
