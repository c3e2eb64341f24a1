"""Operations on gift cards. Every change of a balance adds a ledger entry in the same transaction."""

from dataclasses import dataclass
from datetime import datetime

from commerce.errors import ValidationFailed
from commerce.events.operations import publish, publish_many
from commerce.orders.errors import OrderNotOpen
from commerce.orders.models import Order
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock
from commerce.tenancy.scope import current_account_id
from discounts.models import Voucher, VoucherPaymentAttempt, VoucherRedemption

from .attempts import record_refusal
from .codes import make_voucher_code, parse_voucher_code
from .errors import CurrencyMismatch, InsufficientBalance, VoucherNotActive
from .notifications import enqueue_voucher_email
from .occurrences import build_ended_event, build_issued_event, build_redeemed_events
from .rules import REDEMPTION, REVOCATION, check_voucher
from .statuses import FINAL, Status, effective_status

# Codes are unique across accounts. A code that is taken inserts no row, and the caller draws another one.
_INSERT = """
    INSERT INTO vouchers (account_id, code, currency, initial_balance_cents, balance_cents, held_cents,
                          recipient_email, order_id, status, expires_at, revocation_reason, created_at, updated_at)
    SELECT %(account)s, fresh.code, %(currency)s, %(initial_balance_cents)s, %(initial_balance_cents)s, 0, %(recipient_email)s, %(order_id)s::bigint,
           'active', %(expires_at)s::timestamptz, '', %(now)s, %(now)s
      FROM unnest(%(codes)s::text[]) AS fresh (code)
        ON CONFLICT (code) DO NOTHING
 RETURNING *
"""


@dataclass(frozen=True, slots=True)
class Redeemed:
    voucher: Voucher
    redemption: VoucherRedemption


def issue_voucher(
    *,
    initial_balance_cents: int,
    currency: str,
    recipient_email: str | None = None,
    expires_at: datetime | None = None,
    order_id: int | None = None,
    send_email: bool = False,
    actor: str,
    now: datetime,
) -> Voucher:
    """Issue a gift card, and email it to its recipient with `send_email`. Raises `ValidationFailed`.

    `order_id` is the order in which it was bought.
    """
    # Asked before, because the error of the foreign key would name no field.
    if order_id is not None and not Order.objects.filter(pk=order_id).exists():
        raise ValidationFailed.unknown("order_id")
    (voucher,) = issue_vouchers(
        count=1,
        initial_balance_cents=initial_balance_cents,
        currency=currency,
        recipient_email=recipient_email,
        expires_at=expires_at,
        order_id=order_id,
        actor=actor,
        now=now,
    )
    if send_email:
        enqueue_voucher_email(voucher, now=now)
    return voucher


def issue_vouchers(
    *,
    count: int,
    initial_balance_cents: int,
    currency: str,
    recipient_email: str | None = None,
    expires_at: datetime | None = None,
    order_id: int | None = None,
    actor: str,
    now: datetime,
) -> list[Voucher]:
    """Issue gift cards with the first entries of their ledgers, in cents. Raises `ValidationFailed`."""
    card = {
        "initial_balance_cents": initial_balance_cents,
        "currency": currency,
        "recipient_email": recipient_email,
        "expires_at": expires_at,
        "order_id": order_id,
    }
    fields = check_voucher(card, now=now) | {"account": current_account_id(), "now": now}
    vouchers: list[Voucher] = []
    # Usually one round. A code that is taken, perhaps by another account, inserts no row.
    while len(vouchers) < count:
        codes = [make_voucher_code() for _ in range(count - len(vouchers))]
        vouchers += Voucher.objects.raw(_INSERT, fields | {"codes": codes})
    VoucherRedemption.objects.bulk_create(
        VoucherRedemption(
            voucher=voucher,
            kind=VoucherRedemption.Kind.ISSUE,
            amount_cents=voucher.initial_balance_cents,
            balance_after_cents=voucher.initial_balance_cents,
            order_id=voucher.order_id,
            actor=actor,
        )
        for voucher in vouchers
    )
    publish_many(occurrences=[build_issued_event(voucher) for voucher in vouchers], now=now)
    return vouchers


def redeem_voucher(
    *, code: str, amount_cents: int, order_id: int | None, actor: str, now: datetime
) -> Redeemed:
    """Pay an amount with a gift card, optionally towards an order.

    Raises `NotFound`, `ValidationFailed`, also for an unknown order, and, keeping the attempt, `VoucherNotActive`,
    `OrderNotOpen`, `CurrencyMismatch` and `InsufficientBalance`.
    """
    REDEMPTION.check({"code": code, "amount_cents": amount_cents})
    # The order is locked first, like when it is cancelled or refunded, which returns the amounts taken.
    order = None
    if order_id is not None:
        order = lock(Order.objects.filter(pk=order_id)).first()
    # A text that can't be a code becomes null, which no gift card has.
    voucher = _lock_voucher(code=parse_voucher_code(code))
    if order_id is not None and order is None:
        raise ValidationFailed.unknown("order_id")
    with record_refusal(voucher_id=voucher.pk, amount_cents=amount_cents, order_id=order_id, actor=actor):
        _require_active(voucher, now)
        if order is not None and order.status == Order.Status.CANCELLED:
            raise OrderNotOpen("The order is cancelled.", order_status=order.status)
        if order is not None and order.payment_status == Order.PaymentStatus.REFUNDED:
            raise OrderNotOpen("The order is refunded.", order_status=order.status)
        if order is not None and order.currency != voucher.currency:
            raise CurrencyMismatch(currency=order.currency, voucher_currency=voucher.currency)
        # Not the balance: what open checkouts hold is promised to their payments.
        if amount_cents > voucher.available_cents:
            raise InsufficientBalance(
                balance_cents=voucher.balance_cents, available_cents=voucher.available_cents
            )
    return _charge(voucher, amount_cents, order_id, actor, now)


def disable_voucher(*, voucher_id: int, now: datetime) -> Voucher:
    """Disable a gift card permanently, whatever its balance. A disabled or revoked one stays as it is.

    Raises `NotFound`.
    """
    voucher = _lock_voucher(pk=voucher_id)
    if voucher.status not in FINAL:
        voucher.status = Status.DISABLED
        voucher.disabled_at = now
        voucher.save(update_fields=["status", "disabled_at", "updated_at"])
    return voucher


def revoke_voucher(*, voucher_id: int, reason: str, now: datetime) -> Voucher:
    """Revoke a gift card for fraud, whatever its status: fraud may be noticed late. Repeating it changes nothing.

    Amounts that orders took from it stay taken. Raises `ValidationFailed` and `NotFound`.
    """
    reason = REVOCATION.check({"reason": reason})["reason"]
    voucher = _lock_voucher(pk=voucher_id)
    if voucher.status != Status.REVOKED:
        voucher.status = Status.REVOKED
        voucher.revoked_at = now
        voucher.revocation_reason = reason
        voucher.save(update_fields=["status", "revoked_at", "revocation_reason", "updated_at"])
        name, data = build_ended_event("voucher.revoked", voucher, reason=reason)
        publish(type=name, data=data, now=now)
    return voucher


def resend_voucher(*, voucher_id: int, now: datetime) -> Voucher:
    """Email a gift card to its recipient again. Raises `NotFound`, `VoucherNotActive`, `ValidationFailed`."""
    voucher = get_or_not_found(Voucher.objects, pk=voucher_id)
    # Nobody should be sent a code that can't be used.
    _require_active(voucher, now)
    enqueue_voucher_email(voucher, now=now)
    return voucher


def _lock_voucher(**lookup: object) -> Voucher:
    return get_or_not_found(lock(Voucher.objects.all()), **lookup)


def _require_active(voucher: Voucher, now: datetime) -> None:
    status = effective_status(voucher, now)
    if status != Status.ACTIVE:
        raise VoucherNotActive(voucher_status=status)


def _charge(voucher: Voucher, amount_cents: int, order_id: int | None, actor: str, now: datetime) -> Redeemed:
    voucher.balance_cents -= amount_cents
    if voucher.balance_cents == 0:
        voucher.status = Status.DEPLETED
    voucher.last_redeemed_at = now
    voucher.save(update_fields=["balance_cents", "status", "last_redeemed_at", "updated_at"])
    redemption = VoucherRedemption.objects.create(
        voucher=voucher,
        kind=VoucherRedemption.Kind.REDEEM,
        amount_cents=-amount_cents,
        balance_after_cents=voucher.balance_cents,
        order_id=order_id,
        actor=actor,
    )
    VoucherPaymentAttempt.objects.create(
        voucher=voucher,
        status=VoucherPaymentAttempt.Status.SUCCEEDED,
        amount_cents=amount_cents,
        order_id=order_id,
        actor=actor,
    )
    occurrences = build_redeemed_events(
        voucher_id=voucher.pk,
        currency=voucher.currency,
        status=voucher.status,
        amount_cents=amount_cents,
        balance_cents=voucher.balance_cents,
        order_id=order_id,
        checkout_id=None,
    )
    publish_many(occurrences=occurrences, now=now)
    return Redeemed(voucher, redemption)
