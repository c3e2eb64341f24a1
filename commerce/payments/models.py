from django.db import models

from commerce.tenancy.models import AccountOwned


class FakeCardPayment(AccountOwned):
    """A payment at the test card gateway: what a real gateway would store on its side."""

    class Status(models.TextChoices):
        OPEN = "open"
        SUCCEEDED = "succeeded"
        DECLINED = "declined"
        ABANDONED = "abandoned"
        REFUNDED = "refunded"

    # Whoever knows it may choose the outcome, so it can't be guessed.
    token = models.CharField(max_length=64)
    key = models.CharField(max_length=64, help_text="The idempotency key that the shop sent")
    status = models.CharField(max_length=16, choices=Status, default=Status.OPEN)
    amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    return_url = models.TextField()
    cancel_url = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "test_card_payments"
        constraints = [
            models.UniqueConstraint(fields=["account", "key"], name="test_card_payments_key"),
            models.CheckConstraint(condition=models.Q(amount_cents__gt=0), name="test_card_payments_amount"),
        ]
        # The payment page is found by it, across accounts.
        indexes = [models.Index(fields=["token"], name="test_card_payments_token")]

    def __str__(self) -> str:
        return self.token
