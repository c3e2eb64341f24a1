from django.db import models

from commerce.prefixes import prefix_index
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned


class Product(AccountOwned):
    class Status(models.TextChoices):
        DRAFT = "draft"
        ACTIVE = "active"
        ARCHIVED = "archived"

    handle = models.CharField(max_length=63)
    title = models.CharField(max_length=255)
    description = models.TextField(blank=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    # Variants that are archived with the product get the same time, by which they are restored with it.
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "products"
        constraints = [models.UniqueConstraint(fields=["account", "handle"], name="products_handle")]
        indexes = [
            prefix_index("title", name="products_title_prefix"),
            prefix_index("handle", name="products_handle_prefix"),
        ]

    def __str__(self) -> str:
        return self.title


class Variant(AccountOwned):
    """A sellable version of a product, such as a size or colour."""

    product = AccountForeignKey(Product, related_name="variants")
    sku = models.CharField(max_length=64)
    title = models.CharField(max_length=255, blank=True)
    weight_grams = models.PositiveIntegerField(default=0)
    tax_class = models.CharField(max_length=64, default="standard")
    track_inventory = models.BooleanField(default=True)
    allow_backorder = models.BooleanField(default=False)
    tracking_changed_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When track_inventory was changed last, kept by a trigger; null if it never was",
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "variants"
        constraints = [
            # Only of live variants: archiving one frees its SKU for another.
            models.UniqueConstraint(
                fields=["account", "sku"], condition=models.Q(archived_at__isnull=True), name="variants_sku"
            ),
        ]
        indexes = [
            models.Index(fields=["account", "product"], name="variants_product"),
            prefix_index("sku", name="variants_sku_prefix"),
        ]

    def __str__(self) -> str:
        return self.sku

    @property
    def may_oversell(self) -> bool:
        """Whether more may be sold than is in stock: backorders are allowed, or stock isn't tracked."""
        return self.allow_backorder or not self.track_inventory


class VariantPricing(AccountOwned):
    """A variant's price in a market: gross if the market's prices include tax, else net."""

    variant = AccountForeignKey(Variant, related_name="pricing")
    # By name, because accounts imports the catalog.
    market = AccountForeignKey("accounts.Market", related_name="+")
    currency = models.CharField(max_length=3)
    price_cents = models.BigIntegerField()
    compare_at_price_cents = models.BigIntegerField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "variant_pricing"
        verbose_name_plural = "variant pricing"
        constraints = [
            models.UniqueConstraint(fields=["account", "variant", "market"], name="variant_pricing_market"),
            models.CheckConstraint(condition=models.Q(price_cents__gte=0), name="variant_pricing_price"),
            models.CheckConstraint(
                condition=models.Q(compare_at_price_cents__gte=0), name="variant_pricing_compare_at"
            ),
        ]
