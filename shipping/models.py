from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned

# What a rate can be bounded by, from `min_` to `max_`, ends included.
BOUNDED = ("weight_grams", "subtotal_cents", "quantity")

# Rows are only marked as deleted, because checkouts and orders store their ids.
LIVE = Q(deleted_at__isnull=True)


class ShippingZone(AccountOwned):
    """A destination filter: countries and postcode patterns, account-wide or for one market."""

    market = AccountForeignKey("accounts.Market", null=True, blank=True, related_name="+")
    handle = models.CharField(max_length=63)
    name = models.CharField(max_length=200)
    country_codes = ArrayField(models.CharField(max_length=2))
    zip_patterns = ArrayField(models.CharField(max_length=16), default=list, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "shipping_zones"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "handle"],
                condition=LIVE,
                name="shipping_zones_handle",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ShippingMethod(AccountOwned):
    """A carrier's service, offered in one zone."""

    class RateMode(models.TextChoices):
        FLAT = "flat"
        TIERED = "tiered"
        CARRIER_API = "carrier_api"
        FREE = "free"

    zone = AccountForeignKey(ShippingZone, related_name="methods")
    handle = models.CharField(max_length=63)
    name = models.CharField(max_length=200)
    carrier = models.CharField(max_length=64)
    service_code = models.CharField(max_length=64)
    rate_mode = models.CharField(max_length=16, choices=RateMode)
    requires_pickup_point = models.BooleanField(default=False)
    is_cod_compatible = models.BooleanField(default=False)
    estimated_days_min = models.PositiveSmallIntegerField(null=True, blank=True)
    estimated_days_max = models.PositiveSmallIntegerField(null=True, blank=True)
    cod_fee_cents = models.BigIntegerField(default=0, help_text="In the currency of the chosen rate")
    # Free-form JSON for integrations: nothing here reads it.
    carrier_config = models.JSONField(default=dict, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "shipping_methods"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "handle"],
                condition=LIVE,
                name="shipping_methods_handle",
            ),
            models.CheckConstraint(condition=Q(cod_fee_cents__gte=0), name="shipping_methods_cod_fee"),
            models.CheckConstraint(
                condition=Q(estimated_days_min__isnull=True)
                | Q(estimated_days_max__isnull=True)
                | Q(estimated_days_max__gte=F("estimated_days_min")),
                name="shipping_methods_days",
            ),
            # A mode of the API that isn't available yet: no row may have it before quotes can handle it.
            models.CheckConstraint(condition=~Q(rate_mode="carrier_api"), name="shipping_methods_rate_mode"),
        ]
        indexes = [models.Index(fields=["account", "zone"], condition=LIVE, name="shipping_methods_zone")]

    def __str__(self) -> str:
        return self.name


class ShippingRate(AccountOwned):
    """A price of a method for parcels within all of its bounds, ends included. A null bound is open."""

    method = AccountForeignKey(ShippingMethod, related_name="rates")
    price_cents = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    display_name = models.CharField(max_length=200, null=True, blank=True)
    min_weight_grams = models.BigIntegerField(null=True, blank=True)
    max_weight_grams = models.BigIntegerField(null=True, blank=True)
    min_subtotal_cents = models.BigIntegerField(null=True, blank=True)
    max_subtotal_cents = models.BigIntegerField(null=True, blank=True)
    min_quantity = models.BigIntegerField(null=True, blank=True)
    max_quantity = models.BigIntegerField(null=True, blank=True)
    # The method's mode, copied so that "one flat rate per currency" is a constraint of this table.
    is_flat = models.BooleanField(default=False)
    # Created when a shopper chose a free method that has no rates of its own in any currency.
    is_automatic = models.BooleanField(default=False)
    deleted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "shipping_rates"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "method", "currency"],
                condition=LIVE & Q(is_flat=True),
                name="shipping_rates_one_flat",
            ),
            models.UniqueConstraint(
                fields=["account", "method", "currency"],
                condition=LIVE & Q(is_automatic=True),
                name="shipping_rates_one_automatic",
            ),
            models.CheckConstraint(
                condition=Q(is_automatic=False) | Q(price_cents=0), name="shipping_rates_automatic_free"
            ),
            models.CheckConstraint(condition=Q(price_cents__gte=0), name="shipping_rates_price"),
            *(
                models.CheckConstraint(
                    condition=Q(**{f"min_{bound}__isnull": True})
                    | Q(**{f"max_{bound}__isnull": True})
                    | Q(**{f"max_{bound}__gte": F(f"min_{bound}")}),
                    name=f"shipping_rates_{bound}",
                )
                for bound in BOUNDED
            ),
        ]
        indexes = [
            models.Index(
                fields=["account", "method"],
                condition=LIVE,
                name="shipping_rates_method",
            )
        ]

    @property
    def is_free(self) -> bool:
        return self.price_cents == 0

    @property
    def bounds(self) -> list[str]:
        """The names of the bounds that are set."""
        names = [f"{end}_{bounded}" for bounded in BOUNDED for end in ("min", "max")]
        return [name for name in names if getattr(self, name) is not None]


# Not `AccountOwned`: carriers publish these lists, and every account would have the same million rows.
class PickupPoint(models.Model):
    """A place where a carrier hands out parcels: public reference data, the same for every account."""

    class Kind(models.TextChoices):
        POINT = "point"
        LOCKER = "locker"

    class Status(models.TextChoices):
        ACTIVE = "active"
        CLOSED = "closed"

    id = models.BigAutoField(primary_key=True)
    carrier = models.CharField(max_length=64)
    external_id = models.CharField(max_length=64)
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.POINT)
    name = models.CharField(max_length=255)
    address1 = models.CharField(max_length=255, blank=True)
    city = models.CharField(max_length=128, blank=True)
    zip = models.CharField(max_length=16, blank=True)
    # Upper case, without spaces and hyphens. Collated by bytes, so that a search by prefix is a range of the index.
    normalised_zip = models.CharField(max_length=16, blank=True, editable=False, db_collation="C")
    country_code = models.CharField(max_length=2)
    latitude = models.DecimalField(max_digits=9, decimal_places=6, null=True)
    longitude = models.DecimalField(max_digits=9, decimal_places=6, null=True)
    # As the carrier gives them; null if it gives none.
    opening_hours = models.JSONField(null=True)
    is_cod_supported = models.BooleanField(default=False)
    max_weight_grams = models.PositiveIntegerField(null=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pickup_points"
        constraints = [
            models.UniqueConstraint(fields=["carrier", "external_id"], name="pickup_points_external_id"),
        ]
        indexes = [
            # Covers every column that a list by postcode filters on, so that a wide prefix is an index-only scan.
            models.Index(
                fields=["normalised_zip", "country_code", "carrier", "status", "id"],
                name="pickup_points_postcode",
            ),
            models.Index(fields=["country_code", "-id"], name="pickup_points_country"),
            models.Index(fields=["carrier", "-id"], name="pickup_points_carrier"),
        ]

    def __str__(self) -> str:
        return self.name
