"""Uses of discounts: held when a payment starts, redeemed by the order, returned if the payment or the order fails.

`usage_count` of a discount counts uses that were redeemed and not returned, and uses that are held. It is only written
under the discount's lock, so that limits are exact however many checkouts pay at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from commerce.customers.models import normalise_email
from commerce.tenancy.locks import Resource, about_to_lock, lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared, post, send

from .errors import DiscountExhausted
from .models import Discount
from .shoppers import is_for_first_order, load_history

_ADD_USES = Prepared("""
    UPDATE discounts SET usage_count = usage_count + 1 WHERE account_id = %(account_id)s AND id = ANY(%(ids)s)
""")
# Waits for a concurrent payment of the same person: a unique index lets only one of them hold a first-order discount.
_HOLD = Prepared("""
    INSERT INTO discount_holds
           (account_id, discount_id, code, checkout_id, customer_id, customer_email, amount_cents, currency,
            is_first_order, created_at)
    SELECT %(account_id)s, wanted.discount_id, wanted.code, %(checkout_id)s,
           coalesce(
               %(customer_id)s::bigint,
               (SELECT id FROM customers WHERE account_id = %(account_id)s AND normalised_email = %(email)s)
           ),
           %(email)s, wanted.amount_cents, %(currency)s,
           wanted.discount_id IS NOT DISTINCT FROM %(first_order_id)s::bigint, clock_timestamp()
      FROM unnest(%(discount_ids)s::bigint[], %(codes)s::text[], %(amounts)s::bigint[])
           AS wanted (discount_id, code, amount_cents)
     ORDER BY wanted.discount_id
        ON CONFLICT DO NOTHING
""")
# Locking is a separate statement, before the one that writes. A single statement that waits for a row and then updates
# it would use the version from before the wait, and queue behind transactions that wait for this one: a deadlock.
_LOCK_HELD = Prepared("""
    SELECT d.id
      FROM discounts d
      JOIN discount_holds h ON h.account_id = d.account_id AND h.discount_id = d.id
     WHERE d.account_id = %(account_id)s AND h.checkout_id = ANY(%(checkout_ids)s)
     ORDER BY d.id
       FOR NO KEY UPDATE OF d
""")
# Summed first, because an UPDATE changes each row only once, even if several checkouts release the same discount.
_RELEASE = Prepared("""
    WITH gone AS (
        DELETE FROM discount_holds WHERE account_id = %(account_id)s AND checkout_id = ANY(%(checkout_ids)s)
        RETURNING discount_id
    ), freed AS (
        SELECT discount_id, count(*) AS uses FROM gone GROUP BY discount_id
    )
    UPDATE discounts d SET usage_count = d.usage_count - f.uses
      FROM freed f WHERE d.account_id = %(account_id)s AND d.id = f.discount_id
""")
# Without locking the discounts: their counts stay, since a held use becomes a redeemed one.
_REDEEM = Prepared("""
    WITH gone AS (
        DELETE FROM discount_holds WHERE account_id = %(account_id)s AND checkout_id = %(checkout_id)s RETURNING *
    )
    INSERT INTO discount_redemptions
           (account_id, discount_id, code, checkout_id, order_id, customer_id, customer_email, amount_cents, currency,
            kind, created_at)
    SELECT account_id, discount_id, code, checkout_id, %(order_id)s, %(customer_id)s, customer_email, amount_cents,
           currency, 'redeem', now()
      FROM gone ORDER BY id
""")
_LOCK_REDEEMED = Prepared("""
    SELECT d.id
      FROM discounts d
      JOIN discount_redemptions r ON r.account_id = d.account_id AND r.discount_id = d.id
     WHERE d.account_id = %(account_id)s AND r.order_id = %(order_id)s AND r.kind = 'redeem'
     ORDER BY d.id
       FOR NO KEY UPDATE OF d
""")
# A reversal that exists inserts nothing, so that repeating it doesn't count down twice.
_RETURN = Prepared("""
    WITH returned AS (
        INSERT INTO discount_redemptions
               (account_id, discount_id, code, checkout_id, order_id, customer_id, customer_email, amount_cents,
                currency, kind, created_at)
        SELECT account_id, discount_id, code, checkout_id, order_id, customer_id, customer_email, -amount_cents,
               currency, 'reversal', now()
          FROM discount_redemptions
         WHERE account_id = %(account_id)s AND order_id = %(order_id)s AND kind = 'redeem'
         ORDER BY discount_id
            ON CONFLICT (account_id, order_id, discount_id, kind) DO NOTHING
        RETURNING discount_id
    )
    UPDATE discounts d SET usage_count = d.usage_count - 1
      FROM returned r WHERE d.account_id = %(account_id)s AND d.id = r.discount_id
""")


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a discount in a checkout; the amount that it takes off is in cents of the checkout's currency."""

    discount_id: int
    code: str | None
    amount_cents: int


def hold_uses(
    uses: Sequence[Use], *, checkout_id: int, customer_id: int | None, email: str, currency: str
) -> None:
    """Hold one use of each discount for a checkout, all or none. Raises `DiscountExhausted`."""
    if not uses:
        return
    # Sorted, because rows of a table are locked by id.
    by_id = {use.discount_id: use for use in sorted(uses, key=attrgetter("discount_id"))}
    discounts = list(lock(Discount.objects.filter(pk__in=by_id).order_by("pk")))
    # One hold is enough to mark the checkout, and a second one would violate the unique index itself.
    first_order_id = next((discount.pk for discount in discounts if is_for_first_order(discount)), None)
    held = _execute(
        _HOLD,
        checkout_id=checkout_id,
        customer_id=customer_id,
        email=normalise_email(email),
        currency=currency,
        first_order_id=first_order_id,
        discount_ids=list(by_id),
        codes=[use.code for use in by_id.values()],
        amounts=[use.amount_cents for use in by_id.values()],
    )
    # A hold is missing if the person is paying for another first order. This checkout can't hold any yet.
    if held < len(by_id):
        raise _make_refusal(by_id[first_order_id or min(by_id)])
    # Read after holding, so that an order is seen for which this payment had to wait.
    history = load_history(discounts, customer_id=customer_id, email=email, checkout_id=checkout_id)
    for discount in discounts:
        if _is_spent(discount) or history.forbids(discount):
            raise _make_refusal(by_id[discount.pk])
    _execute(_ADD_USES, ids=list(by_id))


def is_any_spent(uses: Sequence[Use], *, checkout_id: int, customer_id: int | None, email: str) -> bool:
    """Whether one of these discounts couldn't be held now, for a checkout that holds none. At most two statements."""
    discounts = list(Discount.objects.filter(pk__in=[use.discount_id for use in uses])) if uses else []
    history = load_history(discounts, customer_id=customer_id, email=email, checkout_id=checkout_id)
    return any(_is_spent(discount) or history.forbids(discount) for discount in discounts)


def release_uses(*, checkout_ids: Sequence[int]) -> None:
    """Release the uses held by checkouts. Repeating it changes nothing."""
    ids = list(checkout_ids)
    # Discounts are locked before their holds are deleted: another payment may lock a discount and wait for a hold.
    about_to_lock(Resource.DISCOUNT)
    if _execute(_LOCK_HELD, checkout_ids=ids):
        _execute(_RELEASE, checkout_ids=ids)


def redeem_uses(*, checkout_id: int, order_id: int, customer_id: int) -> None:
    """Enter the uses held by a checkout into the ledger for its order."""
    post(_compose(_REDEEM, checkout_id=checkout_id, order_id=order_id, customer_id=customer_id))


def return_uses(*, order_id: int) -> None:
    """Return the uses redeemed by a cancelled order. Repeating it changes nothing."""
    about_to_lock(Resource.DISCOUNT)
    if _execute(_LOCK_REDEEMED, order_id=order_id):
        _execute(_RETURN, order_id=order_id)


def _make_refusal(use: Use) -> DiscountExhausted:
    detail = (
        "A discount of this checkout is used up. Choose a payment method again, the same or another: the answer has the "
        "new total, without the discount."
    )
    return DiscountExhausted(detail, discount_code=use.code, discount_id=use.discount_id)


def _is_spent(discount: Discount) -> bool:
    limit = discount.usage_limit_total
    return limit is not None and discount.usage_count >= limit


def _execute(statement: Prepared, **parameters: object) -> int:
    """Execute a statement; return how many rows it wrote or locked."""
    (result,) = send(_compose(statement, **parameters))
    return result.row_count


def _compose(statement: Prepared, **parameters: object) -> Call:
    return statement.call({"account_id": current_account_id(), **parameters})
