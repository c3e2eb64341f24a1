"""What staff can do to several orders at once."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from commerce.backoffice.bulk import BulkAction
from commerce.backoffice.display import format_money
from commerce.wording import mark

from . import operations
from .models import Order
from .rules import MAX_CARRIER, MAX_REASON


class CarrierForm(forms.Form):
    """What the parcels of several orders may have in common."""

    carrier = forms.CharField(
        label=_("Carrier"), required=False, max_length=MAX_CARRIER, widget=UnfoldAdminTextInputWidget
    )


class CancellationForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON,
        help_text=_("For staff only; the customer doesn't see it."),
        widget=UnfoldAdminTextareaWidget,
    )


def _fulfill(row: Order, *, fields: dict[str, Any], now: datetime, **_rest: object) -> None:
    operations.fulfill_order(order_id=row.pk, carrier=fields["carrier"] or None, now=now)


def _cancel(row: Order, *, actor: str, fields: dict[str, Any], now: datetime, **_rest: object) -> None:
    operations.cancel_order(order_id=row.pk, reason=fields["reason"] or None, actor=actor, now=now)


def _describe(order: Order) -> str:
    return f"{format_money(order.total_cents, order.currency)} · {order.get_payment_status_display()}"


FULFIL_ORDERS = BulkAction(
    name="fulfil",
    title=_("Fulfil the selected orders"),
    help_text=_(
        "Records that the parcels were shipped. Units leave the stock, and each customer gets an email."
    ),
    submit=_("Fulfil the orders"),
    done=mark("fulfilled"),
    run=_fulfill,
    form_class=CarrierForm,
    describe=_describe,
    is_done=lambda order: order.fulfillment_status == Order.FulfillmentStatus.FULFILLED,
)
CANCEL_ORDERS = BulkAction(
    name="cancel",
    title=_("Cancel the selected orders"),
    help_text=_(
        "Units go back on sale, and each customer gets an email. This can't be undone. "
        "Money that didn't come through a gateway has to be refunded by hand."
    ),
    submit=_("Cancel the orders"),
    done=mark("cancelled"),
    run=_cancel,
    form_class=CancellationForm,
    describe=_describe,
    is_done=lambda order: order.status == Order.Status.CANCELLED,
    is_dangerous=True,
)
