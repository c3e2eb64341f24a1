from django.db import models
from django.utils.translation import gettext as _

from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned, AccountOwnedPart


class Location(AccountOwned):
    """A place that holds stock. Priority 1 comes first; at the same priority, the oldest location does."""

    handle = models.CharField(max_length=63)
    name = models.CharField(max_length=200)
    priority = models.PositiveIntegerField(default=1)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "locations"
        constraints = [models.UniqueConstraint(fields=["account", "handle"], name="locations_handle")]

    def __str__(self) -> str:
        return self.name


class InventoryLevel(AccountOwnedPart):
    """Units of a variant at a location: how many are on hand, reserved by checkouts, and committed to orders."""

    location = AccountForeignKey(Location, related_name="+")
    variant = AccountForeignKey("catalog.Variant", related_name="inventory_levels")
    # Repeated adjustments may add up to more than 32 bits.
    on_hand = models.BigIntegerField(default=0)
    reserved = models.BigIntegerField(default=0)
    committed = models.BigIntegerField(default=0)
    # Copied from the variant, so that a check constraint can see it.
    allow_backorder = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwnedPart.Meta):
        db_table = "inventory_levels"
        constraints = [
            models.UniqueConstraint(fields=["account", "location", "variant"], name="inventory_levels_place"),
            models.CheckConstraint(condition=models.Q(on_hand__gte=0), name="inventory_levels_on_hand"),
            models.CheckConstraint(condition=models.Q(reserved__gte=0), name="inventory_levels_reserved"),
            models.CheckConstraint(condition=models.Q(committed__gte=0), name="inventory_levels_committed"),
            # The last defence against overselling, whatever the code and its locks do.
            models.CheckConstraint(
                condition=models.Q(allow_backorder=True)
                | models.Q(on_hand__gte=models.F("reserved") + models.F("committed")),
                name="inventory_levels_not_oversold",
            ),
        ]
        indexes = [models.Index(fields=["account", "variant"], name="inventory_levels_variant")]

    def __str__(self) -> str:
        return _("stock %(id)s") % {"id": self.pk}

    @property
    def available(self) -> int:
        """Units that can still be sold; negative if backorders exceed the stock."""
        return self.on_hand - self.reserved - self.committed

    def is_covered_by(self, on_hand: int) -> bool:
        """Whether `on_hand` units would cover what is reserved and committed, as the constraints require."""
        return on_hand >= (0 if self.allow_backorder else self.reserved + self.committed)


class Reservation(AccountOwnedPart):
    """Units held by a checkout, and by its order once it is completed."""

    class Status(models.TextChoices):
        RESERVED = "reserved"
        COMMITTED = "committed"
        RELEASED = "released"
        FULFILLED = "fulfilled"

    level = AccountForeignKey(InventoryLevel, related_name="reservations")
    # Not a foreign key, since checkouts import inventory and not the other way round.
    checkout_id = models.BigIntegerField()
    quantity = models.PositiveIntegerField()
    status = models.CharField(max_length=16, choices=Status, default=Status.RESERVED)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwnedPart.Meta):
        db_table = "inventory_reservations"
        constraints = [
            # A checkout that releases its units and reserves again reuses its row.
            models.UniqueConstraint(
                fields=["account", "checkout_id", "level"], name="inventory_reservations_once"
            ),
            models.CheckConstraint(
                condition=models.Q(quantity__gt=0), name="inventory_reservations_quantity"
            ),
        ]
        indexes = [models.Index(fields=["account", "level"], name="inventory_reservations_level")]


class InventoryAdjustment(AccountOwned):
    """A manual change of the units on hand. Append-only."""

    class Reason(models.TextChoices):
        CORRECTION = "correction"
        RECEIVED = "received"
        RETURNED = "returned"
        DAMAGED = "damaged"
        COUNT = "count"

    level = AccountForeignKey(InventoryLevel, related_name="+")
    delta = models.BigIntegerField()
    reason = models.CharField(max_length=16, choices=Reason)
    on_hand_after = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "inventory_adjustments"
        indexes = [models.Index(fields=["account", "level"], name="inventory_adjustments_level")]

    def __str__(self) -> str:
        return f"{self.get_reason_display()} {self.delta:+}"
