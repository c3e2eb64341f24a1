from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display
from unfold.enums import ActionVariant

from commerce.backoffice.dialogs import asking
from commerce.backoffice.display import address_column, label_column, money_column, rate_column
from commerce.backoffice.options import ReadOnlyAdmin, ReadOnlyRows

from . import operations
from .models import Order, OrderLineItem

# The amounts of an order, or of a checkout, as staff read them.
TOTALS = (
    "Totals",
    {
        "fields": (
            (
                money_column("subtotal_with_tax_cents", "Subtotal with tax"),
                money_column("subtotal_without_tax_cents", "Subtotal without tax"),
                money_column("discount_cents", "Discount"),
            ),
            (
                money_column("shipping_cents", "Shipping"),
                money_column("cod_fee_cents", "Cash on delivery fee"),
                money_column("tax_cents", "Tax"),
            ),
            (
                money_column("total_cents", "Total"),
                money_column("gift_card_cents", "Gift cards"),
                money_column("amount_due_cents", "Amount due"),
            ),
        )
    },
)


def line_fields(currency: str) -> tuple[Any, ...]:
    """The columns of a frozen line; `currency` is the path from it to the currency of its owner."""
    return (
        "sku",
        "title",
        "quantity",
        money_column("unit_price_with_tax_cents", "Unit price with tax", currency=currency),
        rate_column("tax_rate_bp", "Tax"),
        money_column("discount_cents", "Discount", currency=currency),
        money_column("line_total_with_tax_cents", "Total with tax", currency=currency),
        "custom_attributes",
    )


class OrderLineRows(ReadOnlyRows):
    model = OrderLineItem
    verbose_name_plural = "Lines"
    hide_title = True
    ordering = ("position",)
    fields = line_fields("order.currency")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderLineItem]:
        return super().get_queryset(request).select_related("order")


@admin.register(Order)
class OrderAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        "placed_at",
        "email",
        "market",
        label_column("status", "Status"),
        label_column("payment_status", "Payment"),
        label_column("fulfillment_status", "Fulfilment"),
        money_column("total_cents", "Total"),
    )
    list_filter = ("status", "payment_status", "fulfillment_status", "market", "placed_at")
    list_select_related = ("market",)
    search_fields = ("email", "token")
    search_help_text = "Number, email or token"
    inlines = (OrderLineRows,)
    actions_detail = ("mark_paid", "fulfill", "cancel")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("number", "placed_at"),
                    ("status", "payment_status", "fulfillment_status"),
                    ("paid_at", "fulfilled_at", "cancelled_at"),
                    ("customer", "email"),
                    ("market", "locale"),
                    "customer_note",
                )
            },
        ),
        (
            "Delivery and payment",
            {
                "fields": (
                    (
                        address_column("shipping_address", "Shipping address"),
                        address_column("billing_address", "Billing address"),
                        address_column("pickup_point", "Pickup point"),
                    ),
                    ("shipping_method_name", "payment_method"),
                )
            },
        ),
        TOTALS,
        (
            "Discounts, VAT and origin",
            {
                "classes": ("collapse",),
                "fields": (
                    "discount_codes",
                    "automatic_discounts",
                    "vat",
                    "utm",
                    "referrer",
                    "token",
                    "checkout_id",
                ),
            },
        ),
    )

    @display(description="Order", ordering="number")
    def name(self, order: Order) -> str:
        return str(order)

    @display(description="Shipping method")
    def shipping_method_name(self, order: Order) -> str:
        return (order.shipping_method or {}).get("name", "-")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Order], search_term: str
    ) -> tuple[QuerySet[Order], bool]:
        number = search_term.strip().removeprefix("#")
        if number.isascii() and number.isdigit() and len(number) < 19:
            return queryset.filter(number=int(number)), False
        return super().get_search_results(request, queryset, search_term)

    @asking("Mark as paid", description="The money has come.", submit="Mark as paid", icon="payments")
    def mark_paid(self, request: HttpRequest, order: Order, fields: dict[str, Any]) -> str:
        operations.mark_order_paid(order_id=order.pk, now=timezone.now())
        return "The order is paid."

    @asking(
        "Fulfil",
        description="The parcel has left: its units leave the stock.",
        submit="Fulfil",
        icon="local_shipping",
    )
    def fulfill(self, request: HttpRequest, order: Order, fields: dict[str, Any]) -> str:
        operations.fulfill_order(order_id=order.pk, now=timezone.now())
        return "The order is fulfilled."

    @asking(
        "Cancel order",
        description="The units go back on sale. A cancelled order stays cancelled.",
        submit="Cancel the order",
        icon="cancel",
        variant=ActionVariant.DANGER,
    )
    def cancel(self, request: HttpRequest, order: Order, fields: dict[str, Any]) -> str:
        operations.cancel_order(order_id=order.pk, now=timezone.now())
        return "The order is cancelled."
