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
    changes = models.JSONField(
        null=True,
        help_text="Fields with their values before and after; null if an earlier release served the action",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "staff_actions"
        indexes = [
            models.Index(fields=["account", "subject", "subject_id"], name="staff_actions_subject"),
            models.Index(fields=["account", "username", "id"], name="staff_actions_person"),
        ]

    def __str__(self) -> str:
        return f"{self.username} {self.kind} {self.subject} {self.subject_id}"


class SavedFilter(AccountOwned):
    """Filters of a list under a name, shown as a tab above it: for one member, or for the whole shop."""

    page = models.CharField(max_length=100, help_text="The model of the list: orders.order")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000, help_text="The query string of the list's address")
    username = models.CharField(max_length=150, help_text="Who saved it")
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "saved_filters"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "page", "username", "name"], name="saved_filters_of_member"
            ),
        ]

    def __str__(self) -> str:
        return self.name
