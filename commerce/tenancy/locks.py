"""Row locks, taken in one order by everyone, so that no two transactions wait for each other.

`lock()` locks the rows of a queryset. SQL written by hand calls `about_to_lock()` beside the statement. Both raise
`LockOrderBroken` if the transaction already holds something that comes later in `Resource`, and `NoTransaction` if
none is open. Rows of one table are locked in order of id. Neither sends a statement of its own.

Tables that `Resource` doesn't list come last, in the order of INSTALLED_APPS and of an app's models. Names that aren't
tables of models have no order: a transaction may lock one of them at most.

A resource that is held may be locked again, since these are usually the same rows. The locks of a savepoint are
forgotten when it ends, since it may have been rolled back. Key-share locks, which foreign keys take, are not part of the order.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from typing import TypeVar
from weakref import WeakKeyDictionary

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import Model, QuerySet
from django.db.transaction import Atomic

from .scope import current_account_id

M = TypeVar("M", bound=Model)


class Resource(StrEnum):
    """The tables whose rows are locked, in the order of locking."""

    ACCOUNT = "accounts"
    API_KEY = "api_keys"
    STAFF_INVITATION = "staff_invitations"
    STAFF_MEMBERSHIP = "staff_memberships"
    STAFF_ROLE = "staff_roles"
    MARKET = "markets"
    TAX_RATE = "tax_rates"
    WEBHOOK_ENDPOINT = "webhook_endpoints"
    CART = "carts"
    CHECKOUT = "checkouts"
    ORDER = "orders"
    SHIPPING_ZONE = "shipping_zones"
    SHIPPING_METHOD = "shipping_methods"
    SHIPPING_RATE = "shipping_rates"
    SEGMENT = "segments"
    CUSTOMER = "customers"
    DISCOUNT = "discounts"
    GIFT_CARD = "vouchers"
    PRODUCT = "products"
    VARIANT = "variants"
    PRICE = "variant_pricing"
    LOCATION = "locations"
    STOCK_LEVEL = "inventory_levels"
    ORDER_COUNTER = "order_counters"


# What was locked within each open `atomic()` block. An entry disappears with its block, when that ends.
_held: WeakKeyDictionary[Atomic, set[str]] = WeakKeyDictionary()


class LockOrderBroken(RuntimeError):
    """A lock was asked for while one that comes later in the order was held: this may end in a deadlock."""


class NoTransaction(RuntimeError):
    """A lock was asked for outside of a transaction, where it would end at once."""


def lock(
    rows: QuerySet[M],
    *,
    keys_too: bool = False,
    skips_locked: bool = False,
    of: tuple[str, ...] = (),
) -> QuerySet[M]:
    """The same rows, locked until the end of the transaction.

    With `keys_too`, inserts that refer to the rows wait as well. With `skips_locked`, rows that others have locked are
    left out, so this can be done at any point of the order.
    """
    about_to_lock(rows.model._meta.db_table, waits=not skips_locked)
    # Without the key, others may insert rows that refer to these: their foreign keys take key-share locks only.
    return rows.select_for_update(no_key=not keys_too, skip_locked=skips_locked, of=of)


def lock_now(rows: QuerySet[M]) -> None:
    """Lock the rows by id, without loading them, for operations on several rows."""
    list(lock(rows.order_by("pk")).values_list("pk"))


def lock_account() -> None:
    """Lock the row of the account in scope. It stands for rows that don't exist yet, and so can't be locked.

    Requests that add rows up to a limit then do so one at a time, and each counts the others' rows.
    """
    about_to_lock(Resource.ACCOUNT)
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM accounts WHERE id = %s FOR NO KEY UPDATE", [current_account_id()])


def about_to_lock(resource: str, *, waits: bool = True) -> None:
    """Note a lock that the caller's own SQL takes next. Raises if it would break the order."""
    blocks = connection.atomic_blocks
    if not blocks:
        raise NoTransaction(f"Open a transaction before locking {resource}.")
    held = _list_held(blocks)
    if resource not in held:
        rank = _find_rank(resource)
        # Unknown names have no order among themselves, so the second of them always breaks it.
        later = [other for other in held if _find_rank(other) > rank or not _is_known(other)]
        # Without waiting, there is no deadlock.
        if waits and later:
            raise LockOrderBroken(f"Lock {resource} before {', '.join(sorted(later, key=_find_rank))}.")
        _held.setdefault(blocks[-1], set()).add(resource)


def withdraw_lock(resource: str) -> None:
    """Undo the last `about_to_lock` of this resource, because the statement found nothing to lock."""
    _held[connection.atomic_blocks[-1]].remove(resource)


def held_locks() -> list[str]:
    """The resources that the current transaction has announced locks of, in the order of locking."""
    return sorted(_list_held(connection.atomic_blocks), key=_find_rank)


def _find_rank(resource: str) -> int:
    ranks = _rank_tables(tuple(settings.INSTALLED_APPS))
    return ranks.get(resource, len(ranks))


def _is_known(resource: str) -> bool:
    return resource in _rank_tables(tuple(settings.INSTALLED_APPS))


# By the setting's value, which tests change.
@cache
def _rank_tables(installed_apps: tuple[str, ...]) -> dict[str, int]:
    """Return every table's place in the order of locks."""
    others = (model._meta.db_table for model in apps.get_models())
    return {table: rank for rank, table in enumerate(dict.fromkeys([*Resource, *others]))}


def _list_held(blocks: Iterable[Atomic]) -> list[str]:
    return [resource for block in blocks for resource in _held.get(block, ())]
