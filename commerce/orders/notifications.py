"""What an order's emails are told: everything they say, frozen into the dispatch."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from commerce.outbox.operations import enqueue
from commerce.rest.shapes import timestamp
from commerce.taxes.vat import VatNumber

from .models import FrozenLine, Order
from .shapes import totals_answer


def enqueue_confirmation(
    order: Order, lines: Sequence[FrozenLine], *, account: dict[str, str], now: datetime
) -> None:
    """Queue the `order.confirmation` email in the transaction that placed the order."""
    _enqueue("order.confirmation", order, {"account": account} | order_context(order, lines), now=now)


def enqueue_notice(template_key: str, order: Order, *, now: datetime) -> None:
    """Queue another email about an order, at most one of each template, in the transaction that gave cause for it."""
    lines = list(order.line_items.order_by("position"))
    _enqueue(template_key, order, order_context(order, lines), now=now)


def order_context(order: Order, lines: Sequence[FrozenLine]) -> dict[str, Any]:
    """The templates' variables: cents are decimal strings, as everywhere outside."""
    return {
        "order": {
            "number": str(order.number),
            "placed_at": timestamp(order.placed_at),
            "currency": order.currency,
            "email": order.email,
            "customer_note": order.customer_note,
            "payment_method": order.payment_method,
            "payment_status": order.payment_status,
            "prices_include_tax": order.prices_include_tax,
            "line_items": [_line(line) for line in lines],
            "totals": totals_answer(order),
            "shipping_address": order.shipping_address,
            "billing_address": order.billing_address,
            "shipping_method": order.shipping_method,
            "pickup_point": order.pickup_point,
            "discount_codes": order.discount_codes,
            "vat": _vat(order.vat),
            "carrier": order.carrier,
            "tracking_number": order.tracking_number,
            "tracking_url": order.tracking_url,
        },
    }


def _vat(vat: dict[str, Any] | None) -> dict[str, Any] | None:
    """The buyer's VAT number with its prefix, as the law wants it named where the buyer owes the tax."""
    if vat is None:
        return None
    number = VatNumber(vat["country_code"], vat["number"])
    return {"number": str(number), "reverse_charge": vat["reverse_charge"]}


def _enqueue(template_key: str, order: Order, context: dict[str, Any], *, now: datetime) -> None:
    payload = {
        "template_key": template_key,
        "to_email": order.email,
        "customer_id": order.customer_id,
        "locale": order.locale,
        "ctx": context,
        "reference_type": "order",
        "reference_id": order.pk,
    }
    enqueue(task_name="send_email", payload=payload, idempotency_key=f"{template_key}/{order.token}", now=now)


def _line(line: FrozenLine) -> dict[str, Any]:
    """What a line of an email says."""
    return {
        "sku": line.sku,
        "title": line.title,
        "quantity": line.quantity,
        "unit_price_with_tax_cents": str(line.unit_price_with_tax_cents),
        "unit_price_without_tax_cents": str(line.unit_price_without_tax_cents),
        "line_total_with_tax_cents": str(line.line_total_with_tax_cents),
        "line_total_without_tax_cents": str(line.line_total_without_tax_cents),
    }
