"""Write to carts. Each operation starts with one UPDATE that locks the cart, checks it and extends its life."""

from datetime import datetime, timedelta

import orjson
from django.db import connection

from carts.attributes import hash_attributes
from carts.errors import CartLimitExceeded, CartNotActive
from carts.models import Cart, CartLineItem
from carts.queries import (
    CART_COLUMNS,
    CartRow,
    LoadedCart,
    cart_query,
    get_cart,
    offer_query,
    prepare_offer,
    read_cart,
    read_offer,
)
from commerce.errors import NotFound, TooLarge, ValidationFailed
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared, Result, send
from commerce.tokens import generate_token
from commerce.wording import Wording

# From the latest change on.
LIFETIME = timedelta(days=30)
MAX_LINES = 500
MAX_QUANTITY = 9_999
# For all lines together, because every read, checkout and order copies them.
MAX_ATTRIBUTES_BYTES = 256 * 1024

# Copies from the market and checks that it is active in one statement, so that it can't be deactivated in between.
_CREATE = Prepared(f"""
    INSERT INTO carts AS c (account_id, market_id, currency, locale, prices_include_tax, status, customer_id, token, utm, referrer,
                       expires_at, created_at, updated_at)
    SELECT account_id, id, currency, locale, prices_include_tax, 'active', %s::bigint, %s, %s::jsonb, %s, %s::timestamptz, %s::timestamptz,
           %s::timestamptz
      FROM markets WHERE account_id = %s AND id = %s AND status = 'active'
    RETURNING {CART_COLUMNS}
""")  # noqa: S608  the columns are constant

_LOCK_AND_EXTEND = """
    UPDATE carts SET updated_at = %(now)s, expires_at = %(expires_at)s
     WHERE account_id = %(account_id)s AND token = %(token)s AND status = 'active' AND expires_at > %(now)s
    RETURNING id, account_id, market_id, currency
"""
_LOCK = Prepared(_LOCK_AND_EXTEND)
_LOCK_WITH_OFFER = prepare_offer(_LOCK_AND_EXTEND)

# Adding to an equal line is one statement, so that concurrent additions add up.
_PUT_LINE = Prepared("""
    INSERT INTO cart_line_items (account_id, cart_id, variant_id, quantity, custom_attributes,
                                 custom_attributes_hash, unit_price_cents, tax_rate_bp, price_includes_tax, created_at,
                                 updated_at)
    VALUES (%s, %s, %s, %s, %s::jsonb, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (account_id, cart_id, variant_id, custom_attributes_hash) DO UPDATE
    SET quantity = cart_line_items.quantity + EXCLUDED.quantity, unit_price_cents = EXCLUDED.unit_price_cents,
        tax_rate_bp = EXCLUDED.tax_rate_bp, price_includes_tax = EXCLUDED.price_includes_tax,
        updated_at = EXCLUDED.updated_at
""")

# A merged cart stays merged: its checkout can still be completed.
_CONVERT = """
    WITH converted AS (
        UPDATE carts SET status = CASE status WHEN 'merged' THEN status ELSE 'converted' END,
                         updated_at = CASE status WHEN 'active' THEN %(now)s ELSE updated_at END
         WHERE account_id = %(account_id)s AND id = ({cart})
     RETURNING account_id, id, token
    )
    {following}
"""

# FOR KEY SHARE is enough: redacting a customer updates a unique column, so redaction and this lock exclude each other.
_LOCK_CUSTOMER = """
    SELECT FROM customers WHERE account_id = %s AND id = %s AND redacted_at IS NULL FOR KEY SHARE
"""


def create_cart(
    *, market_id: int, customer_id: int | None, utm: dict[str, object], referrer: str, now: datetime
) -> LoadedCart:
    """Create an empty cart in an active market. Raises `ValidationFailed` for unknown ids."""
    _require_customer(customer_id)
    token = generate_token()
    cart = [customer_id, token, orjson.dumps(utm).decode(), referrer, now + LIFETIME, now, now]
    (created,) = send(_CREATE.call([*cart, current_account_id(), market_id]))
    if not created.rows:
        raise ValidationFailed.unknown("market_id")
    return LoadedCart(CartRow._make(created.rows[0]), [])


def add_line(
    *, token: str, variant_id: int, quantity: int, custom_attributes: dict[str, object], now: datetime
) -> LoadedCart:
    """Add units of a variant. Equal variants with equal attributes become one line, at the current price.

    The attributes must be normalised. Raises `CartNotActive`, `VariantNotFound`, `PricingNotFound`, `CurrencyMismatch`,
    `CartLimitExceeded`, `TooLarge`.
    """
    (offered,) = send(_lock_call(_LOCK_WITH_OFFER, token, now=now, variant_id=variant_id))
    cart_id = _read_lock(offered, token, now=now)
    offer = read_offer(offered)
    _require_quantity(quantity)
    attributes = [orjson.dumps(custom_attributes).decode(), hash_attributes(custom_attributes)]
    line = [current_account_id(), cart_id, variant_id, quantity, *attributes, *offer, now, now]
    _, found = send(_PUT_LINE.call(line), cart_query(token))
    # After the write: only the database knows whether the units made a new line or were added to an equal one.
    return check_limits(read_cart(found), field="custom_attributes")


def set_quantity(*, token: str, line_id: int, quantity: int, now: datetime) -> LoadedCart:
    """Set a line's quantity and refresh its price; 0 removes it. Raises `NotFound`, and whatever `add_line` raises."""
    if quantity == 0:
        return remove_line(token=token, line_id=line_id, now=now)
    cart_id = _lock_and_extend(token, now=now)
    lines = CartLineItem.objects.filter(cart_id=cart_id, pk=line_id)
    variant_id = lines.values_list("variant_id", flat=True).first()
    if variant_id is None:
        raise NotFound
    (offered,) = send(offer_query(token, variant_id))
    offer = read_offer(offered)
    _require_quantity(quantity)
    # The cart's lock also protects its lines: nobody else can change this one in between.
    lines.update(
        quantity=quantity,
        unit_price_cents=offer.unit_price_cents,
        tax_rate_bp=offer.tax_rate_bp,
        price_includes_tax=offer.includes_tax,
        updated_at=now,
    )
    # No `check_limits`: the number of lines and their attributes haven't changed.
    return get_cart(token)


def remove_line(*, token: str, line_id: int, now: datetime) -> LoadedCart:
    """Remove a line. Raises `NotFound`, `CartNotActive`."""
    cart_id = _lock_and_extend(token, now=now)
    deleted, _ = CartLineItem.objects.filter(cart_id=cart_id, pk=line_id).delete()
    if not deleted:
        raise NotFound
    return get_cart(token)


def set_customer(*, token: str, customer_id: int | None, now: datetime) -> LoadedCart:
    """Assign the cart to a customer, or make it anonymous again.

    Raises `NotFound`, `CartNotActive`, and `ValidationFailed` for a customer that is unknown or redacted.
    """
    cart_id = _lock_and_extend(token, now=now)
    _require_customer(customer_id)
    Cart.objects.filter(pk=cart_id).update(customer_id=customer_id)
    return get_cart(token)


def prepare_conversion(*, cart: str, following: str) -> Prepared:
    """Prepare a statement for `convert_cart` that marks a cart as ordered. The SQL subquery `cart` finds its id.

    `following` selects from `converted (account_id, id, token)` in the same statement. The cart is locked first, but
    the tables of `following` are read as they were before the wait for that lock.
    """
    return Prepared(_CONVERT.format(cart=cart, following=following))


def convert_cart(
    conversion: Prepared, *, then_locks: Resource, now: datetime, **parameters: object
) -> Result:
    """Lock a cart and mark it as ordered. Return what `following` selects, which locks `then_locks`."""
    about_to_lock(Resource.CART)
    about_to_lock(then_locks)
    which = {"account_id": current_account_id(), "now": now, **parameters}
    (following,) = send(conversion.call(which))
    return following


def _lock_and_extend(token: str, *, now: datetime) -> int:
    """Lock an active cart, extend its life, and return its id. Raises `NotFound`, `CartNotActive`."""
    (locked,) = send(_lock_call(_LOCK, token, now=now))
    return _read_lock(locked, token, now=now)


def _lock_call(statement: Prepared, token: str, *, now: datetime, **further: object) -> Call:
    about_to_lock(Resource.CART)
    cart = {"account_id": current_account_id(), "token": token, "now": now, "expires_at": now + LIFETIME}
    return statement.call({**cart, **further})


def _read_lock(locked: Result, token: str, *, now: datetime) -> int:
    """Return the id of the cart that was locked. Raises `NotFound`, `CartNotActive`."""
    if locked.rows:
        return locked.rows[0][0]
    # Only a refusal needs a second statement, to tell which of the conditions failed.
    cart = get_or_not_found(Cart.objects, token=token)
    raise CartNotActive(cart_status=cart.effective_status(now))


def require_active(cart: Cart, *, now: datetime) -> None:
    """Raise `CartNotActive` unless the cart, which the caller has locked, can be changed."""
    status = cart.effective_status(now)
    if status != Cart.Status.ACTIVE:
        raise CartNotActive(cart_status=status)


def _require_quantity(quantity: int) -> None:
    """Raise `CartLimitExceeded` if one addition is too large.

    The sum with an equal line's units is left to the column's constraint. A single number may be too large even for the
    column's type, for which PostgreSQL has another error.
    """
    if quantity > MAX_QUANTITY:
        raise CartLimitExceeded(max_lines=MAX_LINES, max_quantity=MAX_QUANTITY)


def check_limits(loaded: LoadedCart, *, field: str) -> LoadedCart:
    """Check the limits of a cart that was read after a write, while it is locked, and return it.

    `field` is the request field to name in `TooLarge`. Raises `CartLimitExceeded` and `TooLarge`.
    """
    if len(loaded.lines) > MAX_LINES:
        raise CartLimitExceeded(max_lines=MAX_LINES, max_quantity=MAX_QUANTITY)
    if sum(len(line.custom_attributes.encode()) for line, _ in loaded.lines) > MAX_ATTRIBUTES_BYTES:
        detail = Wording(
            "The custom attributes of a cart's lines may take at most %(bytes)s bytes.",
            bytes=MAX_ATTRIBUTES_BYTES,
        )
        raise TooLarge.of(field, TooLarge.code, detail)
    return loaded


def _require_customer(customer_id: int | None) -> None:
    if customer_id is not None and not lock_live_customer(customer_id):
        raise ValidationFailed.unknown("customer_id")


def lock_live_customer(customer_id: int) -> bool:
    """Lock a customer against redaction until the transaction ends. False if unknown or already redacted."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_CUSTOMER, [current_account_id(), customer_id])
        return bool(cursor.rowcount)
