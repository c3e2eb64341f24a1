"""Builds the events of gift cards. They never contain a code, which is as good as money."""

from collections.abc import Iterator

from discounts.models import Voucher

# An event type with its data, as expected by `publish_many`.
Occurrence = tuple[str, dict[str, object]]


def build_issued_event(voucher: Voucher) -> Occurrence:
    data = {
        "currency": voucher.currency,
        "initial_balance_cents": voucher.initial_balance_cents,
        "recipient_email": voucher.recipient_email,
        "expires_at": voucher.expires_at,
        "order_id": voucher.order_id,
    }
    return "voucher.issued", {"voucher_id": voucher.pk} | data


def build_redeemed_events(
    *,
    voucher_id: int,
    currency: str,
    status: str,
    amount_cents: int,
    balance_cents: int,
    order_id: int | None,
    checkout_id: int | None,
) -> Iterator[Occurrence]:
    """Build the events of a payment by gift card, in cents. `status` is the card's status after it."""
    card = {"voucher_id": voucher_id, "currency": currency}
    use = {"order_id": order_id, "checkout_id": checkout_id}
    amounts = {"amount_cents": amount_cents, "balance_cents": balance_cents}
    yield "voucher.redeemed", card | use | amounts
    if status == Voucher.Status.DEPLETED:
        yield "voucher.depleted", card | use


def build_ended_event(name: str, voucher: Voucher, **more: object) -> Occurrence:
    """Build the event of a gift card that expired or was revoked, with the remaining balance."""
    data = {"currency": voucher.currency, "balance_cents": voucher.balance_cents}
    return name, {"voucher_id": voucher.pk} | data | more
