"""The emails about an order. Their variables are stored with the dispatch, so later changes don't alter them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from commerce.configuration.registry import Value
from commerce.formats import as_text, timestamp
from commerce.mail import EmailKind, enqueue_email
from commerce.payments.bank_account import find_bank_account
from commerce.payments.connectors import BANK_TRANSFER
from commerce.taxes.vat import VatNumber
from commerce.tenancy.instances import LateText

from .models import FrozenLine, Order
from .placement import number_of
from .shapes import shape_totals


class OrderVariables(TypedDict):
    """The variables for templates of order emails, described in docs/emails.md."""

    order: dict[str, Any]
    account: NotRequired[dict[str, str]]


CONFIRMATION = EmailKind[OrderVariables]("order.confirmation", reference_type="order")
SHIPPED = EmailKind[OrderVariables]("order.shipped", reference_type="order")
CANCELLED = EmailKind[OrderVariables]("order.cancelled", reference_type="order")


def enqueue_confirmation(
    order: Order,
    lines: Sequence[FrozenLine],
    *,
    account: dict[str, str],
    own_settings: Mapping[str, Value],
    now: datetime,
) -> None:
    """Enqueue the confirmation, in the transaction that places the order. `own_settings` are those of its account."""
    variables = _make_variables(order, lines, number=None)
    variables["account"] = account
    if order.payment_method == BANK_TRANSFER.code and order.amount_due_cents:
        bank_account = find_bank_account(own_settings)
        variables["order"]["bank_account"] = None if bank_account is None else asdict(bank_account)
    _enqueue(CONFIRMATION, order, variables, now=now, late=number_of(order, "order", "number"))


def enqueue_notice(kind: EmailKind[OrderVariables], order: Order, *, now: datetime) -> None:
    """Enqueue another email about an order, at most once for each kind."""
    lines = list(order.line_items.order_by("position"))
    _enqueue(kind, order, _make_variables(order, lines, number=str(order.number)), now=now)


def _make_variables(order: Order, lines: Sequence[FrozenLine], *, number: str | None) -> OrderVariables:
    """Return the variables of all order emails. Amounts are decimal strings of cents, as in the API."""
    vat = None
    if order.vat is not None:
        # With its prefix, which invoices must show under the reverse charge (Directive 2006/112/EC, articles 215 and 226).
        vat_number = VatNumber(order.vat.country_code, order.vat.number)
        vat = {"number": str(vat_number), "reverse_charge": order.vat.reverse_charge}
    return {
        "order": {
            "number": number,
            "placed_at": timestamp(order.placed_at),
            "currency": order.currency,
            "email": order.email,
            "customer_note": order.customer_note,
            "payment_method": order.payment_method,
            "payment_status": order.payment_status,
            "prices_include_tax": order.prices_include_tax,
            "line_items": [
                {
                    "sku": line.sku,
                    "title": line.title,
                    "quantity": line.quantity,
                    "unit_price_with_tax_cents": str(line.unit_price_with_tax_cents),
                    "unit_price_without_tax_cents": str(line.unit_price_without_tax_cents),
                    "line_total_with_tax_cents": str(line.line_total_with_tax_cents),
                    "line_total_without_tax_cents": str(line.line_total_without_tax_cents),
                }
                for line in lines
            ],
            "totals": shape_totals(order),
            "shipping_address": order.shipping_address,
            "billing_address": order.billing_address,
            "shipping_method": as_text(order.shipping_method),
            "pickup_point": as_text(order.pickup_point),
            "discount_codes": as_text(order.discount_codes),
            "vat": vat,
            "carrier": order.carrier,
            "tracking_number": order.tracking_number,
            "tracking_url": order.tracking_url,
        },
    }


def _enqueue(
    kind: EmailKind[OrderVariables],
    order: Order,
    variables: OrderVariables,
    *,
    now: datetime,
    late: LateText | None = None,
) -> None:
    enqueue_email(
        kind,
        to_email=order.email,
        customer_id=order.customer_id,
        locale=order.locale,
        variables=variables,
        reference_id=order.pk,
        # By the token, so that an order gets an email of each kind once.
        idempotency_key=f"{kind.key}/{order.token}",
        now=now,
        late=late,
    )
