"""Gift cards at checkout: looking them up, holding amounts, and capturing them for the order.

Every function runs a fixed number of statements, however many gift cards there are, and locks them in order of id.
Callers hold the lock of the checkout itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, Result, send

from .attempts import record_refusal
from .codes import parse_voucher_code
from .errors import CurrencyMismatch, InsufficientBalanceHeld, VoucherNotActive
from .occurrences import Occurrence, build_redeemed_events
from .statuses import Status, compute_status

_SELECT = """
    SELECT id, code, currency, balance_cents - held_cents, status, expires_at
      FROM vouchers
     WHERE account_id = %(account)s AND
"""
_BY_CODE = Prepared(f"{_SELECT} code = %(code)s", reads=True)
_LOCK = Prepared(f"{_SELECT} id = ANY(%(ids)s::bigint[]) ORDER BY id FOR NO KEY UPDATE")
_OF_CURRENCY = Prepared(f"{_SELECT} id = ANY(%(ids)s::bigint[]) AND currency = %(currency)s", reads=True)
_HOLD = Prepared("""
    WITH held AS (
        INSERT INTO voucher_holds (account_id, checkout_id, voucher_id, amount_cents, created_at)
        SELECT %(account)s::bigint, %(checkout)s::bigint, wanted.voucher_id, wanted.amount_cents, %(now)s::timestamptz
          FROM unnest(%(ids)s::bigint[], %(amounts)s::bigint[]) AS wanted (voucher_id, amount_cents)
     RETURNING voucher_id, amount_cents
    )
    UPDATE vouchers v
       SET held_cents = v.held_cents + held.amount_cents, updated_at = %(now)s
      FROM held
     WHERE v.account_id = %(account)s AND v.id = held.voucher_id AND v.id = ANY(%(ids)s::bigint[])
""")
# A separate statement before the one that writes. A single one that waits for a row would then write by the version from
# before the wait.
_LOCK_HELD = Prepared("""
    SELECT v.id
      FROM vouchers v
      JOIN voucher_holds h ON h.account_id = v.account_id AND h.voucher_id = v.id
     WHERE v.account_id = %(account)s AND h.checkout_id = ANY(%(checkouts)s::bigint[])
     ORDER BY v.id
       FOR NO KEY UPDATE OF v
""")
# Summed first, because an UPDATE changes each row only once, even if several checkouts release the same gift card.
_RELEASE = Prepared("""
    WITH released AS (
        DELETE FROM voucher_holds
         WHERE account_id = %(account)s AND checkout_id = ANY(%(checkouts)s::bigint[])
     RETURNING voucher_id, amount_cents
    ), sums AS (
        SELECT voucher_id, sum(amount_cents)::bigint AS amount_cents FROM released GROUP BY voucher_id
    )
    UPDATE vouchers v
       SET held_cents = v.held_cents - sums.amount_cents, updated_at = now()
      FROM sums
     WHERE v.account_id = %(account)s AND v.id = sums.voucher_id
""")
# A gift card that has been disabled, revoked or expired keeps that status, even if nothing is left on it.
_CAPTURE = Prepared("""
    WITH released AS (
        DELETE FROM voucher_holds
         WHERE account_id = %(account)s AND checkout_id = %(checkout)s
     RETURNING voucher_id, amount_cents
    ), captured AS (
        UPDATE vouchers v
           SET balance_cents = v.balance_cents - released.amount_cents,
               held_cents = v.held_cents - released.amount_cents,
               status = CASE WHEN v.status = 'active' AND v.balance_cents = released.amount_cents
                              AND (v.expires_at IS NULL OR v.expires_at > %(now)s)
                             THEN 'depleted' ELSE v.status END,
               last_redeemed_at = %(now)s,
               updated_at = %(now)s
          FROM released
         WHERE v.account_id = %(account)s AND v.id = released.voucher_id
     RETURNING v.id, v.currency, v.status, v.balance_cents, released.amount_cents
    ), entered AS (
        INSERT INTO voucher_redemptions (account_id, voucher_id, kind, amount_cents, balance_after_cents,
                                         order_id, checkout_id, actor, created_at)
        SELECT %(account)s, id, 'redeem', -amount_cents, balance_cents,
               %(order)s, %(checkout)s, %(actor)s, %(now)s
          FROM captured ORDER BY id
    ), noted AS (
        INSERT INTO voucher_payment_attempts (account_id, voucher_id, status, amount_cents,
                                              order_id, checkout_id, actor, created_at)
        SELECT %(account)s, id, 'succeeded', amount_cents, %(order)s, %(checkout)s, %(actor)s, %(now)s
          FROM captured ORDER BY id
    )
    SELECT id, currency, status, balance_cents, amount_cents FROM captured ORDER BY id
""")
_LOCK_REDEEMED = Prepared("""
    SELECT v.id
      FROM vouchers v
     WHERE v.account_id = %(account)s
       AND v.id IN (SELECT r.voucher_id FROM voucher_redemptions r WHERE r.account_id = %(account)s AND r.order_id = %(order)s)
     ORDER BY v.id
       FOR NO KEY UPDATE
""")
# The sums include earlier reversals, so nothing is returned twice. A reactivated gift card past its expiry counts as
# expired.
_REVERSE = Prepared("""
    WITH due AS (
        SELECT voucher_id, -sum(amount_cents)::bigint AS amount_cents
          FROM voucher_redemptions
         WHERE account_id = %(account)s AND order_id = %(order)s AND kind IN ('redeem', 'reversal')
         GROUP BY voucher_id
        HAVING sum(amount_cents) < 0
    ), returned AS (
        UPDATE vouchers v
           SET balance_cents = v.balance_cents + due.amount_cents,
               status = CASE v.status WHEN 'depleted' THEN 'active' ELSE v.status END,
               updated_at = %(now)s
          FROM due
         WHERE v.account_id = %(account)s AND v.id = due.voucher_id
     RETURNING v.id, v.balance_cents, due.amount_cents
    )
    INSERT INTO voucher_redemptions (account_id, voucher_id, kind, amount_cents, balance_after_cents,
                                     order_id, actor, created_at)
    SELECT %(account)s, id, 'reversal', amount_cents, balance_cents, %(order)s, %(actor)s, %(now)s
      FROM returned ORDER BY id
""")


_CHOOSE_AGAIN = (
    "The gift card no longer covers its share of the payment. Choose the payment method again (the same or "
    "another): the answer contains the new amount due."
)


@dataclass(frozen=True, slots=True)
class Funds:
    """A gift card's available amount, in cents of its currency, and its effective status."""

    id: int
    code: str
    currency: str
    available_cents: int
    status: str

    @property
    def payable_cents(self) -> int:
        """The available amount; 0 unless the gift card is active."""
        return self.available_cents if self.status == Status.ACTIVE else 0


def find_usable_voucher(*, code: str, currency: str, now: datetime) -> Funds | None:
    """Find the gift card of a typed code, if any. Raises `VoucherNotActive` and `CurrencyMismatch`."""
    canonical = parse_voucher_code(code)
    # Not locked: what is available is checked again when the payment starts, and is only then held.
    found = _load_funds(_BY_CODE, code=canonical, now=now) if canonical else []
    if not found:
        return None
    (funds,) = found
    _require_active(funds)
    if funds.currency != currency:
        raise CurrencyMismatch(currency=currency, voucher_currency=funds.currency)
    return funds


def load_vouchers_in_currency(*, ids: Sequence[int], currency: str, now: datetime) -> list[Funds]:
    """Load those gift cards that are in this currency, in the given order, including inactive ones."""
    found = {
        funds.id: funds for funds in _load_funds(_OF_CURRENCY, ids=list(ids), currency=currency, now=now)
    }
    return [found[id_] for id_ in ids if id_ in found]


def hold_vouchers(*, checkout_id: int, amounts: Mapping[int, int], now: datetime) -> None:
    """Hold amounts of gift cards (`{voucher_id: cents}`) for a checkout that holds none yet. Zeros are skipped.

    Holds all or nothing: raises `VoucherNotActive` and `InsufficientBalanceHeld`.
    """
    # A hold of nothing would violate the table's constraint.
    wanted = {voucher_id: cents for voucher_id, cents in amounts.items() if cents}
    if not wanted:
        return
    about_to_lock(Resource.GIFT_CARD)
    locked = {funds.id: funds for funds in _load_funds(_LOCK, ids=list(wanted), now=now)}
    for voucher_id, cents in wanted.items():
        with record_refusal(
            voucher_id=voucher_id,
            amount_cents=cents,
            checkout_id=checkout_id,
            actor=f"checkout:{checkout_id}",
        ):
            funds = locked[voucher_id]
            _require_active(funds, _CHOOSE_AGAIN)
            if cents > funds.available_cents:
                raise InsufficientBalanceHeld(
                    _CHOOSE_AGAIN, voucher_code=funds.code, available_cents=funds.available_cents
                )
    _run(_HOLD, checkout=checkout_id, ids=list(wanted), amounts=list(wanted.values()), now=now)


def release_holds(*, checkout_ids: Sequence[int]) -> None:
    """Release what the checkouts hold. Repeating it changes nothing."""
    if lock_held(checkout_ids=checkout_ids):
        _run(_RELEASE, checkouts=list(checkout_ids))


def lock_held(*, checkout_ids: Sequence[int]) -> int:
    """Lock the gift cards that the checkouts hold, in order of id. Returns their number."""
    about_to_lock(Resource.GIFT_CARD)
    return _run(_LOCK_HELD, checkouts=list(checkout_ids)).row_count


def capture_holds(*, checkout_id: int, order_id: int, actor: str, now: datetime) -> list[Occurrence]:
    """Charge the gift cards with what the checkout holds. Returns the events for the caller to publish.

    The caller has locked the gift cards with `lock_held` before creating the order. The amounts were promised before
    the payment, so a gift card that has been disabled, revoked or expired since still pays.
    """
    captured = _run(_CAPTURE, checkout=checkout_id, order=order_id, actor=actor, now=now)
    return [
        occurrence
        for voucher_id, currency, status, balance_cents, amount_cents in captured.rows
        for occurrence in build_redeemed_events(
            voucher_id=voucher_id,
            currency=currency,
            status=status,
            amount_cents=amount_cents,
            balance_cents=balance_cents,
            order_id=order_id,
            checkout_id=checkout_id,
        )
    ]


def reverse_redemptions(*, order_id: int, actor: str, now: datetime) -> None:
    """Return to gift cards what a cancelled or refunded order took from them, at checkout or later, exactly once.

    The caller holds the order's lock. A depleted gift card becomes active again.
    """
    about_to_lock(Resource.GIFT_CARD)
    if _run(_LOCK_REDEEMED, order=order_id).row_count:
        _run(_REVERSE, order=order_id, actor=actor, now=now)


def _load_funds(statement: Prepared, *, now: datetime, **parameters: object) -> list[Funds]:
    return [
        Funds(id_, code, currency, available_cents, compute_status(status, expires_at, now))
        for id_, code, currency, available_cents, status, expires_at in _run(statement, **parameters).rows
    ]


def _run(statement: Prepared, **parameters: object) -> Result:
    (result,) = send(statement.call({"account": current_account_id(), **parameters}))
    return result


def _require_active(funds: Funds, detail: str | None = None) -> None:
    if funds.status != Status.ACTIVE:
        raise VoucherNotActive(detail, voucher_code=funds.code, voucher_status=funds.status)
