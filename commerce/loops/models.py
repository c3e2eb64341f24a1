from django.db import models

from commerce.tenancy.models import AccountOwned


class PostponedRow(AccountOwned):
    """A row that a loop failed on and skips until `retry_at`."""

    loop = models.CharField(max_length=32)
    # No foreign key: the rows are those of any table.
    row_id = models.BigIntegerField()
    failures = models.PositiveIntegerField(default=1, help_text="In a row")
    retry_at = models.DateTimeField()
    last_error = models.TextField(blank=True, help_text="The name of the exception; the log has the rest")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "postponed_rows"
        constraints = [
            models.UniqueConstraint(fields=["account", "loop", "row_id"], name="postponed_rows_row"),
        ]
        indexes = [models.Index(fields=["retry_at"], name="postponed_rows_age")]

    def __str__(self) -> str:
        return f"{self.loop} {self.row_id}"
