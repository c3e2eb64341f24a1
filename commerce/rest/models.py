from django.db import models

from commerce.tenancy.models import AccountOwned


class StoredAnswer(models.Model):
    """The answer to a POST with an Idempotency-Key, committed together with the work."""

    surface = models.CharField(max_length=16)
    key = models.CharField(max_length=255)
    fingerprint = models.BinaryField(max_length=32, help_text="SHA-256 of method, path and canonical body")
    status = models.PositiveSmallIntegerField()
    body = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class IdempotencyRecord(StoredAnswer, AccountOwned):
    class Meta(AccountOwned.Meta):
        db_table = "idempotency_records"
        constraints = [
            models.UniqueConstraint(fields=["account", "surface", "key"], name="idempotency_records_key"),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotency_records_age")]


class WorkspaceIdempotencyRecord(StoredAnswer):
    """The answer to a request of a workspace, such as creating an account."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey("accounts.Workspace", models.CASCADE, related_name="+", db_index=False)

    class Meta:
        db_table = "workspace_idempotency_records"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "surface", "key"], name="workspace_idempotency_records_key"
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="workspace_idempotency_age")]
