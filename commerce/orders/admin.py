from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from commerce.backoffice.bulk import WithBulkActions
from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import (
    StrOrPromise,
    address_column,
    label_column,
    money_column,
    rate_column,
)
from commerce.backoffice.filters import PeriodFilter
from commerce.backoffice.history import name_actor
from commerce.backoffice.inlines import ReadOnlyRows
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.formats import parse_id

from . import customer_sections, operations  # noqa: F401  registers parts of a customer's page
from .bulk_actions import CANCEL_ORDERS, FULFIL_ORDERS
from .models import Order, OrderLineItem
from .rules import MAX_CARRIER, MAX_REASON, MAX_TRACKING_NUMBER
from .timeline import build_timeline
from .work import WorkFilter

# The amounts of an order or a checkout, formatted for staff.
TOTALS = (
    _("Totals"),
    {
        "fields": (
            (
                money_column("subtotal_with_tax_cents", _("Subtotal with tax")),
                money_column("subtotal_without_tax_cents", _("Subtotal without tax")),
                money_column("discount_cents", _("Discount")),
            ),
            (
                money_column("shipping_cents", _("Shipping")),
                money_column("cod_fee_cents", _("Cash on delivery fee")),
                money_column("tax_cents", _("Tax")),
            ),
            (
                money_column("total_cents", _("Total")),
                money_column("gift_card_cents", _("Gift cards")),
                money_column("amount_due_cents", _("Amount due")),
            ),
        )
    },
)


def line_fields(currency: str) -> tuple[object, ...]:
    """The columns of a frozen line. `currency` is the path from the line to its currency."""
    return (
        "sku",
        "title",
        "quantity",
        money_column("unit_price_with_tax_cents", _("Unit price with tax"), currency=currency),
        rate_column("tax_rate_bp", _("Tax")),
        money_column("discount_cents", _("Discount"), currency=currency),
        money_column("line_total_with_tax_cents", _("Total with tax"), currency=currency),
        "custom_attributes",
    )


class OrderLineRows(ReadOnlyRows):
    model = OrderLineItem
    verbose_name_plural = _("Lines")
    hide_title = True
    ordering = ("position",)
    fields = line_fields("order.currency")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OrderLineItem]:
        # The columns of amounts read the order's currency.
        return super().get_queryset(request).select_related("order")


class ParcelForm(BaseDialogForm):
    carrier = forms.CharField(
        label=_("Carrier"), required=False, max_length=MAX_CARRIER, widget=UnfoldAdminTextInputWidget
    )
    tracking_number = forms.CharField(
        label=_("Tracking number"),
        required=False,
        max_length=MAX_TRACKING_NUMBER,
        widget=UnfoldAdminTextInputWidget,
    )
    tracking_url = forms.CharField(required=False, label=_("Tracking URL"), widget=UnfoldAdminTextInputWidget)


class ReasonForm(BaseDialogForm):
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON,
        help_text=_("For staff only; the customer doesn't see it."),
        widget=UnfoldAdminTextareaWidget,
    )


@admin.register(Order)
class OrderAdmin(WithBulkActions, ReadOnlyAdmin):
    area = "orders"
    bulk_actions = (FULFIL_ORDERS, CANCEL_ORDERS)
    list_display = (
        "name",
        "placed_at",
        "email",
        "market",
        label_column("status", _("Status")),
        label_column("payment_status", _("Payment")),
        label_column("fulfillment_status", _("Fulfilment")),
        money_column("total_cents", _("Total")),
    )
    list_filter = (
        WorkFilter,
        "status",
        "payment_status",
        "fulfillment_status",
        "market",
        ("placed_at", PeriodFilter),
    )
    sortable_by = ("name", "placed_at")
    list_select_related = ("market",)
    searches_beginnings = True
    search_fields = ("email", "customer__normalised_email", "token")
    search_help_text = _("Number, beginning of the email, or token")
    inlines = (OrderLineRows,)
    change_form_after_template = "backoffice/timeline.html"
    actions_detail = ("mark_paid", "fulfill", "mark_refunded", "cancel")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("number", "placed_at"),
                    ("status", "payment_status", "fulfillment_status"),
                    ("customer", "email"),
                    ("market", "locale"),
                    "customer_note",
                )
            },
        ),
        (
            _("Delivery and payment"),
            {
                "fields": (
                    (
                        address_column("shipping_address", _("Shipping address")),
                        address_column("billing_address", _("Billing address")),
                        address_column("pickup_point", _("Pickup point")),
                    ),
                    ("shipping_method_name", "payment_method"),
                    ("carrier", "tracking_number", "tracking_url"),
                )
            },
        ),
        TOTALS,
        (
            _("Discounts, VAT and origin"),
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

    @display(description=_("Order"), ordering="number")
    def name(self, order: Order) -> str:
        return str(order)

    @display(description=_("Shipping method"))
    def shipping_method_name(self, order: Order) -> str:
        return order.shipping_method.name if order.shipping_method else "-"

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: object, obj: Order, **kwargs: object
    ) -> HttpResponse:
        # As a field of the form it would be computed several times.
        context["entries"] = build_timeline(obj)
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Order], search_term: str
    ) -> tuple[QuerySet[Order], bool]:
        number = parse_id(search_term.strip().removeprefix("#"))
        if number is not None:
            return queryset.filter(number=number), False
        return super().get_search_results(request, queryset, search_term)

    @dialog_action(
        _("Mark as paid"),
        description=_("Records that the order was paid."),
        submit=_("Mark as paid"),
        icon="payments",
    )
    def mark_paid(self, request: HttpRequest, order: Order, fields: Mapping[str, object]) -> StrOrPromise:
        operations.mark_order_paid(order_id=order.pk, now=timezone.now())
        return _("The order is paid.")

    @dialog_action(
        _("Fulfil"),
        description=_(
            "Records that the parcel was shipped. Its units leave the stock, and the customer gets an email."
        ),
        submit=_("Fulfil"),
        form_class=ParcelForm,
        icon="local_shipping",
    )
    def fulfill(self, request: HttpRequest, order: Order, fields: dict[str, Any]) -> StrOrPromise:
        operations.fulfill_order(
            order_id=order.pk,
            # Empty fields of the form mean none.
            carrier=fields["carrier"] or None,
            tracking_number=fields["tracking_number"] or None,
            tracking_url=fields["tracking_url"] or None,
            now=timezone.now(),
        )
        return _("The order is fulfilled.")

    @dialog_action(
        _("Mark as refunded"),
        description=_(
            "Records that the customer of a cancelled or returned order was refunded. "
            "Gift cards get back what they paid; refund the rest before you mark the order."
        ),
        submit=_("Mark as refunded"),
        icon="undo",
    )
    def mark_refunded(self, request: HttpRequest, order: Order, fields: Mapping[str, object]) -> StrOrPromise:
        operations.mark_order_refunded(order_id=order.pk, actor=name_actor(request), now=timezone.now())
        return _("The order is refunded.")

    @dialog_action(
        _("Cancel order"),
        description=_(
            "The units go back on sale, and the customer gets an email. This can't be undone. "
            "Money that didn't come through a gateway has to be refunded by hand."
        ),
        submit=_("Cancel the order"),
        form_class=ReasonForm,
        icon="cancel",
        variant=ActionVariant.DANGER,
    )
    def cancel(self, request: HttpRequest, order: Order, fields: dict[str, Any]) -> StrOrPromise:
        operations.cancel_order(
            order_id=order.pk,
            reason=fields["reason"] or None,
            # Written to the ledgers of discounts and gift cards.
            actor=name_actor(request),
            now=timezone.now(),
        )
        return _("The order is cancelled.")
