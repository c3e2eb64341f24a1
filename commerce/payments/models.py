from django.db import models

from commerce.tenancy.models import AccountOwned


class FakeCardPayment(AccountOwned):
    """What the test card gateway knows of a payment: the books of an outside service, which happen to lie here."""

    class Status(models.TextChoices):
        OPEN = "open"
        SUCCEEDED = "succeeded"
        DECLINED = "declined"
        ABANDONED = "abandoned"
        REFUNDED = "refunded"

    token = models.CharField(max_length=64)
    key = models.CharField(max_length=64, help_text="The shop's own name of the payment")
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
        # By which its page is found across accounts.
        indexes = [models.Index(fields=["token"], name="test_card_payments_token")]

    def __str__(self) -> str:
        return self.token
