from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from commerce.backoffice.display import address_column, label_column, money_column
from commerce.backoffice.filters import PeriodFilter
from commerce.backoffice.inlines import ReadOnlyRows
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.orders.admin import TOTALS, line_fields

from . import figures  # noqa: F401  registers figures of the overview
from .discount_trial import DiscountTrial
from .filters import ProgressFilter
from .models import Checkout, CheckoutLineItem, CheckoutPaymentAttempt


class CheckoutLineRows(ReadOnlyRows):
    model = CheckoutLineItem
    verbose_name_plural = gettext_lazy("Lines")
    hide_title = True
    ordering = ("position",)
    fields = line_fields("checkout.currency")

    def get_queryset(self, request: HttpRequest) -> QuerySet[CheckoutLineItem]:
        return super().get_queryset(request).select_related("checkout")


class PaymentAttemptRows(ReadOnlyRows):
    model = CheckoutPaymentAttempt
    hide_title = True
    fields = (
        "created_at",
        "payment_method",
        "status",
        money_column("amount_cents", gettext_lazy("Amount")),
        "provider_reference",
        "failure_code",
        "confirmed_at",
        "paid_late_at",
        "refunded_at",
        "refund_reference",
    )


@admin.register(Checkout)
class CheckoutAdmin(DiscountTrial, ReadOnlyAdmin):
    area = "orders"
    list_display = (
        "token",
        "created_at",
        "email",
        "market",
        label_column("phase", gettext_lazy("Phase")),
        "payment_method",
        money_column("total_cents", gettext_lazy("Total")),
        "order",
    )
    list_filter = (ProgressFilter, "phase", "market", ("created_at", PeriodFilter))
    sortable_by = ("token", "created_at")
    list_select_related = ("market", "order")
    searches_beginnings = True
    search_fields = ("token", "email")
    search_help_text = gettext_lazy("Token or beginning of the email")
    inlines = (CheckoutLineRows, PaymentAttemptRows)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("token", "phase", "failure_code"),
                    ("created_at", "expires_at", "completed_at"),
                    ("cart", "order", "is_stock_reserved"),
                    ("customer", "email"),
                    ("market", "locale"),
                    "customer_note",
                )
            },
        ),
        (
            gettext_lazy("Delivery and payment"),
            {
                "fields": (
                    (
                        address_column("shipping_address", gettext_lazy("Shipping address")),
                        address_column("billing_address", gettext_lazy("Billing address")),
                        address_column("pickup_point", gettext_lazy("Pickup point")),
                    ),
                    ("shipping_method_name", "payment_method", "ready_to_complete"),
                )
            },
        ),
        TOTALS,
        (
            gettext_lazy("Discounts, VAT and origin"),
            {
                "classes": ("collapse",),
                "fields": ("discount_codes", "automatic_discounts", "vat", "utm", "referrer"),
            },
        ),
    )

    @display(description=gettext_lazy("Shipping method"))
    def shipping_method_name(self, checkout: Checkout) -> str:
        return checkout.shipping_method.name if checkout.shipping_method else "-"
