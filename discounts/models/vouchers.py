from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from commerce.caseless import caseless_key
from commerce.prefixes import prefix_index
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned


class Voucher(AccountOwned):
    """A gift card: a code with a balance. The balance is the sum of its ledger."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        DEPLETED = "depleted"
        EXPIRED = "expired"
        DISABLED = "disabled"
        REVOKED = "revoked"

    code = models.CharField(max_length=19, help_text="XXXX-XXXX-XXXX-XXXX, unique across accounts")
    currency = models.CharField(max_length=3)
    initial_balance_cents = models.BigIntegerField()
    balance_cents = models.BigIntegerField()
    # The part of the balance that open checkouts hold for their payment.
    held_cents = models.BigIntegerField(default=0)
    recipient_email = models.CharField(max_length=254, null=True, blank=True)
    recipient_email_key = caseless_key("recipient_email", null=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    expires_at = models.DateTimeField(null=True, blank=True)
    order = AccountForeignKey("orders.Order", null=True, blank=True, related_name="+")
    last_redeemed_at = models.DateTimeField(null=True, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revocation_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "vouchers"
        constraints = [
            models.UniqueConstraint(fields=["code"], name="vouchers_code"),
            models.CheckConstraint(condition=Q(initial_balance_cents__gt=0), name="vouchers_initial_balance"),
            models.CheckConstraint(
                condition=Q(balance_cents__gte=0, balance_cents__lte=F("initial_balance_cents")),
                name="vouchers_balance",
            ),
            # What is held can't be spent elsewhere, not even by mistake.
            models.CheckConstraint(
                condition=Q(held_cents__gte=0, held_cents__lte=F("balance_cents")), name="vouchers_held"
            ),
        ]
        indexes = [
            # The sweeper searches it across accounts.
            models.Index(fields=["expires_at"], condition=Q(status="active"), name="vouchers_expiry"),
            models.Index(fields=["account", "recipient_email_key"], name="vouchers_recipient_key"),
            prefix_index("recipient_email", name="vouchers_recipient_prefix"),
            prefix_index("code", name="vouchers_code_prefix"),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def available_cents(self) -> int:
        """The cents that can be charged or held: the balance minus what open checkouts hold."""
        return self.balance_cents - self.held_cents


class VoucherRedemption(AccountOwned):
    """An entry in a gift card's ledger. Append-only, in signed cents."""

    class Kind(models.TextChoices):
        ISSUE = "issue"
        REDEEM = "redeem"
        REVERSAL = "reversal"

    voucher = AccountForeignKey(Voucher, related_name="ledger")
    kind = models.CharField(max_length=16, choices=Kind)
    amount_cents = models.BigIntegerField()
    balance_after_cents = models.BigIntegerField()
    order = AccountForeignKey("orders.Order", null=True, related_name="+")
    checkout_id = models.BigIntegerField(null=True)
    actor = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "voucher_redemptions"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="redeem", amount_cents__lt=0)
                | Q(kind__in=["issue", "reversal"], amount_cents__gt=0),
                name="voucher_redemptions_sign",
            ),
            models.CheckConstraint(
                condition=Q(balance_after_cents__gte=0), name="voucher_redemptions_balance"
            ),
        ]
        indexes = [
            models.Index(fields=["account", "voucher"], name="voucher_redemptions_voucher"),
            models.Index(fields=["account", "order"], name="voucher_redemptions_order"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"


class VoucherHold(AccountOwned):
    """An amount that a checkout holds from the start of its payment until it completes, fails or ends."""

    voucher = AccountForeignKey(Voucher, related_name="+")
    checkout_id = models.BigIntegerField()
    amount_cents = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "voucher_holds"
        constraints = [
            models.UniqueConstraint(fields=["account", "checkout_id", "voucher"], name="voucher_holds_one"),
            models.CheckConstraint(condition=Q(amount_cents__gt=0), name="voucher_holds_amount"),
        ]
        indexes = [models.Index(fields=["account", "voucher"], name="voucher_holds_voucher")]

    def __str__(self) -> str:
        return _("Hold %(id)s") % {"id": self.pk}


class VoucherPaymentAttempt(AccountOwned):
    """An attempt to pay with a gift card, successful or refused. Append-only, for support staff."""

    class Status(models.TextChoices):
        SUCCEEDED = "succeeded"
        REFUSED = "refused"

    voucher = AccountForeignKey(Voucher, related_name="payment_attempts")
    status = models.CharField(max_length=16, choices=Status)
    failure_code = models.CharField(max_length=64, null=True)
    amount_cents = models.BigIntegerField()
    order_id = models.BigIntegerField(null=True)
    checkout_id = models.BigIntegerField(null=True)
    actor = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "voucher_payment_attempts"
        constraints = [
            models.CheckConstraint(
                condition=Q(status="succeeded", failure_code__isnull=True)
                | Q(status="refused", failure_code__isnull=False),
                name="voucher_payment_attempts_failure",
            ),
        ]
        indexes = [models.Index(fields=["account", "voucher"], name="voucher_payment_attempts_of")]

    def __str__(self) -> str:
        return f"{self.get_status_display()} {self.pk}"
