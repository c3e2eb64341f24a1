from datetime import datetime

from django.db import models
from django.db.models import Q

from commerce.sizes import KIB, at_most_bytes
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwnedPart


class Cart(AccountOwnedPart):
    """A long-lived cart, addressed by its token. It stores prices, but no totals, and never holds stock."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        MERGED = "merged"
        CONVERTED = "converted"
        EXPIRED = "expired"

    # What the shopper's browser knows a cart by. Ids can be guessed, and a storefront key is shared by all shoppers.
    token = models.CharField(max_length=64)
    market = AccountForeignKey("accounts.Market", related_name="+")
    customer = AccountForeignKey("customers.Customer", null=True, blank=True, related_name="+")
    merged_into = AccountForeignKey("carts.Cart", null=True, blank=True, related_name="+")
    # Copied from the market when the cart was created. Later changes of the market don't affect the cart.
    currency = models.CharField(max_length=3)
    locale = models.CharField(max_length=16)
    prices_include_tax = models.BooleanField()
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    utm = models.JSONField(default=dict, blank=True)
    referrer = models.TextField(blank=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwnedPart.Meta):
        db_table = "carts"
        constraints = [
            models.UniqueConstraint(fields=["account", "token"], name="carts_token"),
            models.CheckConstraint(
                condition=Q(status="merged", merged_into__isnull=False)
                | ~Q(status="merged") & Q(merged_into__isnull=True),
                name="carts_merged_into",
            ),
            # Twice what the API accepts, because PostgreSQL formats JSON with spaces, which count here.
            at_most_bytes("utm", 8 * KIB, name="carts_utm_size"),
            at_most_bytes("referrer", 8 * KIB, name="carts_referrer_size"),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(status="active"), name="carts_expiry"),
            models.Index(fields=["account", "created_at"], name="carts_created"),
            models.Index(
                fields=["account", "created_at"], condition=Q(status="converted"), name="carts_converted"
            ),
            models.Index(
                fields=["account", "customer"], condition=Q(customer__isnull=False), name="carts_customer"
            ),
        ]

    def __str__(self) -> str:
        return self.token

    def effective_status(self, now: datetime) -> str:
        """The status at this time: `expired` is computed, never stored."""
        is_expired = self.status == self.Status.ACTIVE and self.expires_at <= now
        return self.Status.EXPIRED.value if is_expired else self.status


class CartLineItem(AccountOwnedPart):
    """A variant in a cart, with a snapshot of its price. Equal variants with equal attributes share a line."""

    cart = AccountForeignKey(Cart, related_name="line_items")
    variant = AccountForeignKey("catalog.Variant", related_name="+")
    quantity = models.PositiveIntegerField()
    custom_attributes = models.JSONField(default=dict, blank=True)
    custom_attributes_hash = models.CharField(max_length=64)
    # Copied together: the price in cents of the cart's currency, its tax rate, and whether it includes the tax.
    unit_price_cents = models.BigIntegerField()
    tax_rate_bp = models.PositiveIntegerField()
    price_includes_tax = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwnedPart.Meta):
        db_table = "cart_line_items"
        constraints = [
            # Of the hash, because attributes may be longer than the entry of an index (2.7 KB).
            models.UniqueConstraint(
                fields=["account", "cart", "variant", "custom_attributes_hash"], name="cart_line_items_equal"
            ),
            models.CheckConstraint(
                condition=Q(quantity__gte=1, quantity__lte=9999), name="cart_line_items_quantity"
            ),
            models.CheckConstraint(condition=Q(unit_price_cents__gte=0), name="cart_line_items_price"),
            at_most_bytes("custom_attributes", 8 * KIB, name="cart_line_items_attributes_size"),
        ]
