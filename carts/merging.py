"""Merge one cart into another. Apps above carts register further steps, as they do for cancelling orders."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, Case, DateTimeField, F, Value, When

from carts.errors import CurrencyMismatch, MergeMarketMismatch
from carts.models import Cart
from carts.operations import LIFETIME, check_limits, lock_live_customer, require_active
from carts.queries import LoadedCart, get_cart
from commerce.errors import NotFound, ValidationFailed
from commerce.tenancy.locks import lock
from commerce.tenancy.scope import current_account_id

# Lines keep the order in which they were added to their carts; an equal line keeps the target's price.
_MOVE_LINES = """
    WITH moved AS (
        DELETE FROM cart_line_items WHERE account_id = %(account)s AND cart_id = %(source)s RETURNING *
    )
    INSERT INTO cart_line_items (account_id, cart_id, variant_id, quantity, custom_attributes,
                                 custom_attributes_hash, unit_price_cents, tax_rate_bp, price_includes_tax, created_at,
                                 updated_at)
    SELECT account_id, %(target)s, variant_id, quantity, custom_attributes, custom_attributes_hash,
           unit_price_cents, tax_rate_bp, price_includes_tax, created_at, %(now)s
      FROM moved ORDER BY id
    ON CONFLICT (account_id, cart_id, variant_id, custom_attributes_hash) DO UPDATE
    SET quantity = cart_line_items.quantity + EXCLUDED.quantity, updated_at = EXCLUDED.updated_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Two active carts, both locked. `moved_lines` counts the lines that were moved from the source to the target."""

    source: Cart
    target: Cart
    moved_lines: int
    now: datetime


Step = Callable[[Merge], None]

_first_steps: list[Step] = []
_steps: list[Step] = []


def on_merge(step: Step) -> Step:
    """Register a step of every merge; apps import the registering module in `ready()`.

    Steps run at the end of the merge's transaction, when everything that the product itself changes is locked, so they may
    lock their app's own tables. If a step raises, the merge is rolled back.
    """
    _steps.append(step)
    return step


def first_on_merge(step: Step) -> Step:
    """Register a step that locks checkouts or orders, which come before customers in the order of locks.

    It runs while both carts are locked, before their customers are.
    """
    _first_steps.append(step)
    return step


def merge_carts(*, token: str, source_token: str, now: datetime) -> LoadedCart:
    """Move the lines of the source cart into this one. Repeating it changes nothing.

    Raises `CartNotActive`, `MergeMarketMismatch`, `CurrencyMismatch`, `CartLimitExceeded`, `TooLarge`, `NotFound` for
    the source, and whatever the registered steps raise.
    """
    target, source = _lock_pair(token, source_token)
    # Before the statuses are checked: the source of a repeated merge isn't active any more.
    if source.merged_into_id == target.pk:
        return get_cart(token)
    for cart in (target, source):
        require_active(cart, now=now)
    if source.market_id != target.market_id:
        raise MergeMarketMismatch
    # The market's currency may have changed between the creation of the two carts.
    if source.currency != target.currency:
        raise CurrencyMismatch
    parameters: dict[str, Any] = {
        "account": current_account_id(),
        "source": source.pk,
        "target": target.pk,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_LINES, parameters)
        moved_lines = cursor.rowcount
    merge = Merge(source=source, target=target, moved_lines=moved_lines, now=now)
    for step in _first_steps:
        step(merge)
    _save_carts(merge)
    for step in _steps:
        step(merge)
    # Only now are equal lines joined, so that the lines can be counted.
    return check_limits(get_cart(token), field="source_cart_token")


def _lock_pair(token: str, source_token: str) -> tuple[Cart, Cart]:
    """Lock both carts, in the order of their ids, so that opposite merges of two carts can't deadlock."""
    if token == source_token:
        raise ValidationFailed.of("source_cart_token", "same_cart", "A cart can't be merged into itself.")
    found = lock(Cart.objects.filter(token__in=[token, source_token]).order_by("pk"), keys_too=True)
    carts = {cart.token: cart for cart in found}
    if token not in carts or source_token not in carts:
        raise NotFound
    return carts[token], carts[source_token]


def _save_carts(merge: Merge) -> None:
    """Mark the source as merged, and give the target a customer and a longer life. One UPDATE for both carts."""
    is_source, is_target = {"pk": merge.source.pk}, {"pk": merge.target.pk}
    # The target's own customer comes first. Redacted ones are dropped: a cart must not bring their data back.
    customer_ids = (merge.target.customer_id, merge.source.customer_id)
    live_id = next((id_ for id_ in customer_ids if id_ is not None and lock_live_customer(id_)), None)
    customer = Value(live_id, output_field=BigIntegerField())
    target_id = Value(merge.target.pk, output_field=BigIntegerField())
    new_end = Value(merge.now + LIFETIME, output_field=DateTimeField())
    Cart.objects.filter(pk__in=[merge.source.pk, merge.target.pk]).update(
        status=Case(When(**is_source, then=Value(Cart.Status.MERGED)), default=F("status")),
        merged_into=Case(When(**is_source, then=target_id)),
        customer=Case(
            When(**is_target, then=customer), default=F("customer"), output_field=BigIntegerField()
        ),
        expires_at=Case(When(**is_target, then=new_end), default=F("expires_at")),
        updated_at=merge.now,
    )
