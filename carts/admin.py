from typing import Any

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from commerce.backoffice.display import label_column, money_column, rate_column
from commerce.backoffice.filters import PeriodFilter
from commerce.backoffice.inlines import ReadOnlyRows
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.queries import sum_up

from . import figures  # noqa: F401  registers figures of the overview
from .models import Cart, CartLineItem


class CartLineRows(ReadOnlyRows):
    model = CartLineItem
    verbose_name_plural = gettext_lazy("Lines")
    hide_title = True
    fields = (
        "variant",
        "quantity",
        money_column("unit_price_cents", gettext_lazy("Unit price"), currency="cart.currency"),
        rate_column("tax_rate_bp", gettext_lazy("Tax")),
        "price_includes_tax",
        "custom_attributes",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CartLineItem]:
        # The price column shows the currency of the cart, the first column the variant's name.
        return super().get_queryset(request).select_related("cart", "variant")


@admin.register(Cart)
class CartAdmin(ReadOnlyAdmin):
    area = "orders"
    list_display = (
        "token",
        "created_at",
        "updated_at",
        "customer",
        "market",
        label_column("status", gettext_lazy("Status")),
        "line_count",
        "item_count",
    )
    list_filter = ("status", "market", ("created_at", PeriodFilter))
    sortable_by = ("token", "created_at")
    list_select_related = ("market", "customer")
    searches_beginnings = True
    search_fields = ("token", "customer__normalised_email")
    search_help_text = gettext_lazy("Cart token or the beginning of the customer's email")
    inlines = (CartLineRows,)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("token", "status"),
                    ("market", "currency", "locale", "prices_include_tax"),
                    "customer",
                    ("created_at", "updated_at", "expires_at"),
                    "merged_into",
                    ("utm", "referrer"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Cart]:
        # Annotated, because a list of 50 carts would otherwise take two more statements for each.
        lines = CartLineItem.objects.all()
        return (
            super()
            .get_queryset(request)
            .annotate(lines=sum_up(lines, "cart"), items=sum_up(lines, "cart", Sum("quantity")))
        )

    @display(description=gettext_lazy("Lines"), ordering="lines")
    def line_count(self, cart: Any) -> int:
        return cart.lines

    @display(description=gettext_lazy("Items"), ordering="items")
    def item_count(self, cart: Any) -> int:
        return cart.items
