from django.db import models

from commerce.tenancy.models import AccountOwned


class StaffAction(AccountOwned):
    """An action of a staff member: append-only.

    Objects are referred to by id only, so that redacting a customer leaves no name behind. Replaces Django's own log,
    which is one table for all accounts.
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
