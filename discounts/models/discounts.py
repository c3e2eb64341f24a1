from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper

from commerce.caseless import caseless_key
from commerce.prefixes import prefix_index
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned
from discounts.evaluation import Mechanic
from discounts.registry import get_mechanic, type_choices

# The status of a gift card's discount by the status of the gift card.
_OF_VOUCHER = {
    "active": "active",
    "depleted": "exhausted",
    "expired": "expired",
    "disabled": "disabled",
    "revoked": "disabled",
}


class Discount(AccountOwned):
    """A rule that lowers a price: by code, automatically, for quantities, or on shipping.

    A discount of type `gift_card` lowers nothing: it represents a voucher, which pays, and has its code.
    """

    class ValueMode(models.TextChoices):
        PERCENTAGE = "percentage"
        FIXED_AMOUNT = "fixed_amount"
        SET_PRICE = "set_price"
        FREE = "free"

    class AppliesTo(models.TextChoices):
        ORDER = "order"
        LINE_ITEMS = "line_items"
        SHIPPING = "shipping"

    class Eligibility(models.TextChoices):
        ALL = "all"
        TAGGED = "tagged"
        SEGMENTS = "segments"
        SPECIFIC = "specific"
        FIRST_ORDER = "first_order"

    class Status(models.TextChoices):
        ACTIVE = "active"
        DISABLED = "disabled"
        ARCHIVED = "archived"

    class EffectiveStatus(models.TextChoices):
        SCHEDULED = "scheduled"
        ACTIVE = "active"
        EXPIRED = "expired"
        EXHAUSTED = "exhausted"
        DISABLED = "disabled"
        ARCHIVED = "archived"

    type = models.CharField(max_length=32, choices=type_choices)
    code = models.CharField(max_length=64, null=True, blank=True)
    code_key = caseless_key("code", null=True)
    title = models.CharField(max_length=200)
    value_mode = models.CharField(max_length=16, choices=ValueMode, null=True, blank=True)
    value_amount = models.BigIntegerField(
        null=True, blank=True, help_text="Basis points or cents, by value mode"
    )
    currency = models.CharField(max_length=3, null=True, blank=True)
    applies_to = models.CharField(max_length=16, choices=AppliesTo, default=AppliesTo.ORDER)
    product_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    variant_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    market_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    stackable = models.BooleanField(default=False)
    minimum_order_subtotal_cents = models.BigIntegerField(default=0)
    customer_eligibility = models.CharField(max_length=16, choices=Eligibility, default=Eligibility.ALL)
    customer_tags = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    segment_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    customer_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    first_order_only = models.BooleanField(default=False)
    usage_limit_total = models.PositiveIntegerField(null=True, blank=True)
    usage_limit_per_customer = models.PositiveIntegerField(null=True, blank=True)
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    bogo_config = models.JSONField(null=True, blank=True)
    bulk_tiers = models.JSONField(null=True, blank=True)
    # The settings of types without a column of their own.
    config = models.JSONField(null=True, blank=True)
    voucher = AccountForeignKey("discounts.Voucher", null=True, blank=True, editable=False, related_name="+")
    # Redemptions minus reversals, plus what open checkouts hold. Counted in the row, so that limits are exact.
    usage_count = models.PositiveIntegerField(default=0, editable=False)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "discounts"
        constraints = [
            # Case is ignored, because people type codes. Archiving frees the code.
            models.UniqueConstraint(
                F("account"), Upper("code"), condition=~Q(status="archived"), name="discounts_code"
            ),
            models.CheckConstraint(
                condition=Q(starts_at__isnull=True) | Q(ends_at__isnull=True) | Q(ends_at__gt=F("starts_at")),
                name="discounts_window",
            ),
            models.CheckConstraint(
                condition=~Q(value_mode="percentage") | Q(value_amount__gte=0, value_amount__lte=10_000),
                name="discounts_percentage",
            ),
            models.CheckConstraint(
                condition=Q(value_amount__isnull=True) | Q(value_amount__gte=0), name="discounts_value"
            ),
            models.CheckConstraint(
                condition=Q(type="gift_card", voucher__isnull=False, code__isnull=False)
                | ~Q(type="gift_card") & Q(voucher__isnull=True),
                name="discounts_gift_card",
            ),
            models.UniqueConstraint(fields=["account", "voucher"], name="discounts_voucher"),
        ]
        indexes = [
            # Every checkout step loads the discounts that apply automatically: few rows among many codes.
            models.Index(
                fields=["account"], condition=Q(code__isnull=True, status="active"), name="discounts_in_force"
            ),
            # The unique index lacks archived discounts, which a lookup finds if there is no live one.
            models.Index(fields=["account", "code_key"], name="discounts_code_key"),
            prefix_index("code", name="discounts_code_prefix"),
            prefix_index("title", name="discounts_title_prefix"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def mechanic(self) -> Mechanic:
        return get_mechanic(self.type)

    def effective_status(self, now: datetime) -> EffectiveStatus:
        """The status at this time: an active discount may not have started, or may be over or used up."""
        if self.status != self.Status.ACTIVE:
            return self.EffectiveStatus(self.status)
        if self.starts_at is not None and now < self.starts_at:
            return self.EffectiveStatus.SCHEDULED
        if self.ends_at is not None and now >= self.ends_at:
            return self.EffectiveStatus.EXPIRED
        if self.usage_limit_total is not None and self.usage_count >= self.usage_limit_total:
            return self.EffectiveStatus.EXHAUSTED
        if self.voucher is not None:
            return self.EffectiveStatus(_OF_VOUCHER[self.voucher.status])
        return self.EffectiveStatus.ACTIVE


class DiscountUse(models.Model):
    """One use of a discount by one checkout. The customer or the normalised email identifies the person."""

    discount = AccountForeignKey(Discount, related_name="+")
    code = models.CharField(max_length=64, null=True)
    # Not a foreign key, since checkouts import discounts and not the other way round.
    checkout_id = models.BigIntegerField()
    # Null for a guest.
    customer = AccountForeignKey("customers.Customer", null=True, related_name="+")
    customer_email = models.CharField(max_length=254)
    amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class DiscountHold(DiscountUse, AccountOwned):
    """A use held by a checkout from the start of its payment until it completes, fails or ends."""

    # Set on one hold of a checkout with first-order discounts: a person may have only one such checkout at a time.
    is_first_order = models.BooleanField(default=False, db_default=False)

    class Meta(AccountOwned.Meta):
        db_table = "discount_holds"
        constraints = [
            models.UniqueConstraint(fields=["account", "checkout_id", "discount"], name="discount_holds_one"),
            models.UniqueConstraint(
                fields=["account", "customer_email"],
                condition=Q(is_first_order=True),
                name="discount_holds_first_order_email",
            ),
            models.UniqueConstraint(
                fields=["account", "customer"],
                condition=Q(is_first_order=True),
                name="discount_holds_first_order_customer",
            ),
            models.CheckConstraint(condition=Q(amount_cents__gt=0), name="discount_holds_amount"),
        ]
        indexes = [models.Index(fields=["account", "discount"], name="discount_holds_discount")]

    def __str__(self) -> str:
        return f"Hold {self.pk}"


class DiscountRedemption(DiscountUse, AccountOwned):
    """A use by a completed order, or its reversal by a cancellation. Append-only, in signed cents."""

    class Kind(models.TextChoices):
        REDEEM = "redeem"
        REVERSAL = "reversal"

    kind = models.CharField(max_length=16, choices=Kind, default=Kind.REDEEM)
    order = AccountForeignKey("orders.Order", related_name="+")

    class Meta(AccountOwned.Meta):
        db_table = "discount_redemptions"
        constraints = [
            # An order redeems a discount at most once, and reverses it at most once.
            models.UniqueConstraint(
                fields=["account", "order", "discount", "kind"], name="discount_redemptions_one"
            ),
            models.CheckConstraint(
                condition=Q(kind="redeem", amount_cents__gt=0) | Q(kind="reversal", amount_cents__lt=0),
                name="discount_redemptions_sign",
            ),
        ]
        indexes = [
            models.Index(fields=["account", "discount", "customer_email"], name="discount_redemptions_email"),
            models.Index(fields=["account", "discount", "customer"], name="discount_redemptions_customer"),
            prefix_index("customer_email", name="discount_redemptions_person"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"
