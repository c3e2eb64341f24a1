from django.db import models
from django.db.models import Case, F, Func, Q, When
from django.db.models.functions import Least
from django.db.models.lookups import GreaterThanOrEqual

from commerce.caseless import caseless_key
from commerce.payments.connectors import has_gateway
from commerce.prefixes import prefix_index
from commerce.snapshots import snapshot, snapshots
from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwned, AccountOwnedPart

from .conditions import TO_FULFIL, TO_PAY, TO_REFUND
from .snapshots import AppliedCode, AutomaticDiscount, PickupPointSnapshot, ShippingSnapshot, VatSnapshot


class Totals(models.Model):
    """The amounts of a checkout or order, in minor units of its currency. The database checks their sums as well.

    Subtotals are before discounts; `shipping_cents` is what is charged after shipping discounts;
    `tax_cents` is all tax: lines after discount, shipping and the cash-on-delivery fee.
    """

    prices_include_tax = models.BooleanField()
    subtotal_with_tax_cents = models.BigIntegerField(default=0)
    subtotal_without_tax_cents = models.BigIntegerField(default=0)
    discount_cents = models.BigIntegerField(default=0)
    shipping_cents = models.BigIntegerField(default=0)
    shipping_discount_cents = models.BigIntegerField(default=0)
    shipping_tax_cents = models.BigIntegerField(default=0)
    cod_fee_cents = models.BigIntegerField(default=0)
    cod_fee_tax_cents = models.BigIntegerField(default=0)
    tax_cents = models.BigIntegerField(default=0)
    total_cents = models.BigIntegerField(default=0)
    gift_card_cents = models.BigIntegerField(default=0)
    amount_due_cents = models.BigIntegerField(default=0)

    class Meta:
        abstract = True


def totals_constraints(table: str) -> list[models.CheckConstraint]:
    """Check constraints for the sums of `Totals`, named for a table."""
    # Gross amounts contain their tax. To net ones, of lines, shipping and fee alike, all of the tax is added.
    goods = Case(
        When(prices_include_tax=True, then=F("subtotal_with_tax_cents")),
        default=F("subtotal_without_tax_cents") + F("tax_cents"),
    )
    total = goods - F("discount_cents") + F("shipping_cents") + F("cod_fee_cents")
    amounts = (
        "subtotal_with_tax_cents subtotal_without_tax_cents discount_cents shipping_cents shipping_discount_cents "
        "shipping_tax_cents cod_fee_cents cod_fee_tax_cents tax_cents total_cents gift_card_cents amount_due_cents"
    )
    # Short conditions, because PostgreSQL reads their text anew in each statement that writes a row.
    return [
        models.CheckConstraint(condition=Q(total_cents=total), name=f"{table}_total"),
        models.CheckConstraint(
            condition=Q(amount_due_cents=F("total_cents") - F("gift_card_cents")), name=f"{table}_amount_due"
        ),
        models.CheckConstraint(
            condition=GreaterThanOrEqual(Least(*amounts.split()), 0), name=f"{table}_not_negative"
        ),
    ]


class OrderCounter(AccountOwned):
    """An account's last order number. `next_order_number()` increments it when an order is inserted."""

    last_number = models.BigIntegerField(default=1000)

    class Meta(AccountOwned.Meta):
        db_table = "order_counters"
        constraints = [models.UniqueConstraint(fields=["account"], name="order_counters_account")]


class NextOrderNumber(Func):
    """The account's next number. Its other completions wait from here to the end of the transaction."""

    function = "next_order_number"
    template = "%(function)s()"
    output_field = models.BigIntegerField()


class Order(Totals, AccountOwnedPart):
    """A purchase, frozen at completion."""

    class Status(models.TextChoices):
        OPEN = "open"
        CANCELLED = "cancelled"
        CLOSED = "closed"

    class PaymentStatus(models.TextChoices):
        PENDING = "pending"
        PAID = "paid"
        REFUNDED = "refunded"

    class FulfillmentStatus(models.TextChoices):
        UNFULFILLED = "unfulfilled"
        FULFILLED = "fulfilled"

    # Drawn by the INSERT itself, so that the counter is locked as late as possible (docs/decisions/0002).
    number = models.BigIntegerField(db_default=NextOrderNumber())
    token = models.CharField(max_length=64)
    # Unique: one order per checkout. Not a foreign key, since checkouts import orders and not the other way round.
    checkout_id = models.BigIntegerField()
    market = AccountForeignKey("accounts.Market", related_name="+")
    customer = AccountForeignKey("customers.Customer", related_name="orders")
    status = models.CharField(max_length=16, choices=Status, default=Status.OPEN)
    payment_status = models.CharField(max_length=16, choices=PaymentStatus, default=PaymentStatus.PENDING)
    fulfillment_status = models.CharField(
        max_length=16, choices=FulfillmentStatus, default=FulfillmentStatus.UNFULFILLED
    )
    # As entered at the checkout. The customer's own address may be another, or change later.
    email = models.CharField(max_length=254)
    email_key = caseless_key("email")
    currency = models.CharField(max_length=3)
    locale = models.CharField(max_length=16)
    shipping_address = models.JSONField()
    billing_address = models.JSONField(null=True)
    shipping_method: ShippingSnapshot | None = snapshot(
        ShippingSnapshot, help_text="Snapshot of method and rate"
    )
    pickup_point: PickupPointSnapshot | None = snapshot(PickupPointSnapshot, help_text="Snapshot")
    payment_method = models.CharField(max_length=32)
    discount_codes: list[AppliedCode] = snapshots(AppliedCode)
    automatic_discounts: list[AutomaticDiscount] = snapshots(AutomaticDiscount)
    vat: VatSnapshot | None = snapshot(VatSnapshot)
    customer_note = models.TextField(blank=True)
    utm = models.JSONField(default=dict)
    referrer = models.TextField(blank=True)
    cancel_reason = models.TextField(null=True, help_text="For staff, not for the customer")
    # The name that customers know; `carrier` of the shipping method is an identifier.
    carrier = models.CharField(max_length=64, null=True)
    tracking_number = models.CharField(max_length=100, null=True)
    tracking_url = models.CharField(max_length=2048, null=True)
    placed_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True)
    paid_at = models.DateTimeField(null=True)
    refunded_at = models.DateTimeField(null=True)
    fulfilled_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwnedPart.Meta):
        db_table = "orders"
        constraints = [
            models.UniqueConstraint(fields=["account", "number"], name="orders_number"),
            models.UniqueConstraint(fields=["token"], name="orders_token"),
            models.UniqueConstraint(fields=["account", "checkout_id"], name="orders_checkout"),
            # A fulfilled order can't be cancelled, and an order is closed once it is both paid and fulfilled.
            models.CheckConstraint(
                condition=Q(status="open", cancelled_at__isnull=True)
                | Q(
                    status="closed",
                    cancelled_at__isnull=True,
                    fulfilled_at__isnull=False,
                    paid_at__isnull=False,
                )
                | Q(status="cancelled", cancelled_at__isnull=False, fulfilled_at__isnull=True),
                name="orders_status",
            ),
            # What was refunded must have been paid.
            models.CheckConstraint(
                condition=Q(payment_status="pending", paid_at__isnull=True, refunded_at__isnull=True)
                | Q(payment_status="paid", paid_at__isnull=False, refunded_at__isnull=True)
                | Q(payment_status="refunded", paid_at__isnull=False, refunded_at__isnull=False),
                name="orders_payment_status",
            ),
            models.CheckConstraint(
                condition=Q(fulfillment_status="unfulfilled", fulfilled_at__isnull=True)
                | Q(fulfillment_status="fulfilled", fulfilled_at__isnull=False),
                name="orders_fulfillment_status",
            ),
            *totals_constraints("orders"),
        ]
        indexes = [
            models.Index(fields=["account", "customer"], name="orders_customer"),
            # Sales by day are summed from the index alone.
            models.Index(
                fields=["account", "placed_at"],
                include=["status", "payment_status", "market", "currency", "total_cents"],
                name="orders_sales",
            ),
            # For lists by one of these columns, newest first. Whole, so that any value is found, also by a prepared plan.
            *(
                models.Index(fields=["account", column, "id"], name=f"orders_by_{column}")
                for column in ("status", "payment_status", "fulfillment_status")
            ),
            # Every page counts these: few orders may be due among a million that are open, unpaid or cancelled.
            *(
                models.Index(fields=["account", "id"], condition=condition, name=name)
                for name, condition in (
                    ("orders_to_fulfil", TO_FULFIL),
                    ("orders_to_pay", TO_PAY),
                    ("orders_to_refund", TO_REFUND),
                )
            ),
            models.Index(fields=["account", "market", "id"], name="orders_market"),
            prefix_index("email", name="orders_email_prefix"),
            models.Index(fields=["account", "email_key"], name="orders_email_key"),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def is_refunded_by_hand(self) -> bool:
        """Whether the shop refunds the money itself, as far as its payment method tells.

        The method may have had a gateway when the order was paid.
        """
        return self.amount_due_cents == 0 or not has_gateway(self.payment_method)


class FrozenLine(models.Model):
    """A line as of the start of the checkout. Its prices and tax no longer follow the catalogue."""

    position = models.PositiveIntegerField()
    # Variants are archived, never deleted.
    variant = AccountForeignKey("catalog.Variant", related_name="+")
    # Not a foreign key: the line outlives the product.
    product_id = models.BigIntegerField()
    sku = models.CharField(max_length=64)
    title = models.CharField(max_length=512)
    quantity = models.PositiveIntegerField()
    custom_attributes = models.JSONField(default=dict)
    weight_grams = models.PositiveIntegerField(default=0, help_text="Of one unit")
    tax_class = models.CharField(max_length=64)
    tax_rate_bp = models.PositiveIntegerField()
    unit_price_with_tax_cents = models.BigIntegerField()
    unit_price_without_tax_cents = models.BigIntegerField()
    line_total_with_tax_cents = models.BigIntegerField()
    line_total_without_tax_cents = models.BigIntegerField()
    line_tax_cents = models.BigIntegerField()
    discount_cents = models.BigIntegerField(default=0, help_text="Gross or net, as the market's prices are")

    class Meta:
        abstract = True


def line_constraints(table: str) -> list[models.CheckConstraint]:
    """Check constraints for the sums of `FrozenLine`, named for a table."""
    total = F("line_total_without_tax_cents") + F("line_tax_cents")
    return [
        models.CheckConstraint(condition=Q(quantity__gt=0), name=f"{table}_quantity"),
        models.CheckConstraint(condition=Q(line_total_with_tax_cents=total), name=f"{table}_total"),
        models.CheckConstraint(condition=Q(discount_cents__gte=0), name=f"{table}_discount"),
    ]


class OrderLineItem(FrozenLine, AccountOwnedPart):
    order = AccountForeignKey(Order, related_name="line_items")

    class Meta(AccountOwnedPart.Meta):
        db_table = "order_line_items"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "order", "position"], name="order_line_items_position"
            ),
            *line_constraints("order_line_items"),
        ]
