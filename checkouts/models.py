from typing import Protocol

from django.db import models
from django.db.models import Q

from commerce.orders.models import FrozenLine, Totals, line_constraints, totals_constraints
from commerce.orders.snapshots import (
    AppliedCode,
    AutomaticDiscount,
    PickupPointSnapshot,
    ShippingSnapshot,
    VatSnapshot,
)
from commerce.prefixes import prefix_index
from commerce.sizes import KIB, at_most_bytes
from commerce.snapshots import snapshot, snapshots
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwnedPart

from .phases import OPEN_PHASES, Phase


class Checkout(Totals, AccountOwnedPart):
    """A short-lived session that freezes a cart, holds its stock and results in at most one order."""

    token = models.CharField(max_length=64)
    cart = AccountForeignKey("carts.Cart", related_name="+")
    market = AccountForeignKey("accounts.Market", related_name="+")
    customer = AccountForeignKey("customers.Customer", null=True, related_name="+")
    phase = models.CharField(max_length=16, choices=Phase, default=Phase.PENDING)
    email = models.CharField(max_length=254)
    currency = models.CharField(max_length=3)
    locale = models.CharField(max_length=16)
    shipping_address = models.JSONField(null=True)
    billing_address = models.JSONField(null=True)
    same_as_shipping = models.BooleanField(default=True)
    customer_note = models.TextField(blank=True)
    # Snapshots: method, rate or pickup point may be deleted later.
    shipping_method_id = models.BigIntegerField(null=True)
    shipping_rate_id = models.BigIntegerField(null=True)
    shipping_method: ShippingSnapshot | None = snapshot(ShippingSnapshot)
    pickup_point_id = models.BigIntegerField(null=True)
    pickup_point: PickupPointSnapshot | None = snapshot(PickupPointSnapshot)
    shipping_tax_rate_bp = models.PositiveIntegerField(default=0)
    payment_method = models.CharField(max_length=32, null=True)
    # Kept with the payment, because the method may have lost its gateway, or the installation the method, since.
    uses_gateway = models.BooleanField(
        null=True,
        help_text="Whether the last payment went to a gateway; null before one, and if an earlier release started it",
    )
    discount_codes: list[AppliedCode] = snapshots(AppliedCode)
    automatic_discounts: list[AutomaticDiscount] = snapshots(AutomaticDiscount)
    vat: VatSnapshot | None = snapshot(VatSnapshot)
    utm = models.JSONField(default=dict)
    referrer = models.TextField(blank=True)
    ready_to_complete = models.BooleanField(default=False)
    failure_code = models.CharField(max_length=64, null=True)
    order = AccountForeignKey("orders.Order", null=True, related_name="+")
    is_stock_reserved = models.BooleanField(default=False)
    expires_at = models.DateTimeField()
    sweep_after = models.DateTimeField(
        null=True,
        help_text="The sweeper skips the checkout until then, while a gateway is asked about its payment",
    )
    completed_at = models.DateTimeField(null=True)
    completion_key = models.CharField(
        max_length=255, null=True, help_text="The Idempotency-Key of the request that completed it"
    )
    completion_body = models.CharField(
        max_length=64,
        null=True,
        help_text="The SHA-256 of that request's body; null if an earlier release served it",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # Not columns: set by queries that load a checkout together with its cart, order and account.
    cart_token: str
    order_token: str | None
    seller_vat_number: str | None
    seller_name: str
    seller_handle: str
    seller_timezone: str
    # Read only where it is locked to be changed. Without it, the discounts are read.
    may_have_automatic_discounts: bool = True
    # Read only when it is completed.
    own_settings: str | None
    next_order_id: int

    class Meta(AccountOwnedPart.Meta):
        db_table = "checkouts"
        constraints = [
            models.UniqueConstraint(fields=["account", "token"], name="checkouts_token"),
            models.UniqueConstraint(
                fields=["account", "cart"],
                condition=Q(phase__in=OPEN_PHASES),
                name="checkouts_one_open_per_cart",
            ),
            models.CheckConstraint(
                condition=Q(phase="completed", order__isnull=False, completed_at__isnull=False)
                | ~Q(phase="completed") & Q(order__isnull=True, completed_at__isnull=True),
                name="checkouts_order_with_completion",
            ),
            # Across the account: a key belongs to one checkout.
            models.UniqueConstraint(fields=["account", "completion_key"], name="checkouts_completion_key"),
            models.CheckConstraint(
                condition=Q(completion_key__isnull=True) | Q(phase="completed"),
                name="checkouts_completion_key_with_completion",
            ),
            at_most_bytes("shipping_address", 16 * KIB, name="checkouts_shipping_address_size"),
            at_most_bytes("billing_address", 16 * KIB, name="checkouts_billing_address_size"),
            at_most_bytes("customer_note", 8 * KIB, name="checkouts_customer_note_size"),
            *totals_constraints("checkouts"),
        ]
        indexes = [
            # For the sweeper, which searches all accounts.
            models.Index(fields=["expires_at"], condition=Q(phase__in=OPEN_PHASES), name="checkouts_expiry"),
            models.Index(fields=["account", "created_at"], name="checkouts_created"),
            models.Index(
                fields=["account", "created_at"], condition=Q(phase="abandoned"), name="checkouts_abandoned"
            ),
            models.Index(fields=["account", "market", "id"], name="checkouts_market"),
            prefix_index("email", name="checkouts_email_prefix"),
        ]

    def __str__(self) -> str:
        return self.token

    @property
    def is_reverse_charge(self) -> bool:
        """Whether the buyer owes the tax (reverse charge), so that none is charged."""
        return self.vat is not None and self.vat.reverse_charge


class PricedLine(Protocol):
    """The total prices of a line in cents. Rows that aren't models have them too."""

    @property
    def line_total_with_tax_cents(self) -> int: ...
    @property
    def line_total_without_tax_cents(self) -> int: ...


def pick_listed_cents(line: PricedLine, *, prices_include_tax: bool) -> int:
    """The price of all units of a line in cents, gross or net like the market's prices."""
    return line.line_total_with_tax_cents if prices_include_tax else line.line_total_without_tax_cents


class CheckoutLineItem(FrozenLine, AccountOwnedPart):
    """A line of the cart as it was when the checkout began. Only its share of the discounts changes later."""

    checkout = AccountForeignKey(Checkout, related_name="line_items")

    class Meta(AccountOwnedPart.Meta):
        db_table = "checkout_line_items"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "checkout", "position"], name="checkout_line_items_position"
            ),
            *line_constraints("checkout_line_items"),
        ]

    def listed_cents(self, checkout: Checkout) -> int:
        """The price of all units before discounts: gross or net, like the market's prices."""
        return pick_listed_cents(self, prices_include_tax=checkout.prices_include_tax)


class CheckoutPaymentAttempt(AccountOwnedPart):
    """One attempt to pay a checkout."""

    class Status(models.TextChoices):
        PENDING = "pending"
        REQUIRES_ACTION = "requires_action"
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    checkout = AccountForeignKey(Checkout, related_name="payment_attempts")
    payment_method = models.CharField(max_length=32)
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    amount_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    redirect_url = models.TextField(null=True)
    return_url = models.TextField(blank=True)
    cancel_url = models.TextField(blank=True)
    gateway_key = models.CharField(
        max_length=64,
        null=True,
        help_text="Its idempotency key at the gateway; null without a gateway",
    )
    start_key = models.CharField(
        max_length=255, null=True, help_text="The Idempotency-Key of the request that started the attempt"
    )
    provider_reference = models.CharField(max_length=255, null=True)
    failure_code = models.CharField(max_length=64, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    confirmed_at = models.DateTimeField(null=True)
    # Money paid for a failed attempt, an ended checkout or a cancelled order is refunded.
    paid_late_at = models.DateTimeField(null=True)
    refunded_at = models.DateTimeField(null=True)
    refund_reference = models.CharField(max_length=255, null=True)

    class Meta(AccountOwnedPart.Meta):
        db_table = "checkout_payment_attempts"
        constraints = [
            models.CheckConstraint(condition=Q(amount_cents__gte=0), name="checkout_payment_attempts_amount"),
            models.UniqueConstraint(
                fields=["account", "checkout"],
                condition=Q(status="succeeded"),
                name="checkout_payment_attempts_one_success",
            ),
            models.UniqueConstraint(
                fields=["account", "checkout"],
                condition=Q(status__in=["pending", "requires_action"]),
                name="checkout_payment_attempts_one_open",
            ),
            # Money that came in time belongs to an order, and money that didn't come through a gateway can't be refunded.
            models.CheckConstraint(
                condition=Q(paid_late_at__isnull=True) | Q(status="failed", gateway_key__isnull=False),
                name="checkout_payment_attempts_paid_late",
            ),
            models.CheckConstraint(
                condition=Q(refunded_at__isnull=True) | Q(paid_late_at__isnull=False) | Q(status="succeeded"),
                name="checkout_payment_attempts_refunded",
            ),
            at_most_bytes("return_url", 8 * KIB, name="checkout_payment_attempts_return_url_size"),
            at_most_bytes("cancel_url", 8 * KIB, name="checkout_payment_attempts_cancel_url_size"),
        ]
        indexes = [models.Index(fields=["account", "checkout"], name="checkout_payment_attempts_of")]

    @property
    def is_open(self) -> bool:
        return self.status in {self.Status.PENDING, self.Status.REQUIRES_ACTION}
