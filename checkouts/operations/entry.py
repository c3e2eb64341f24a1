"""Enter checkout: freeze the cart, hold its stock and end its older checkout, in one transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from accounts.archiving import hold_off_archiving
from accounts.authentication import require_open
from accounts.models import Market
from carts.models import Cart
from carts.operations import require_active
from carts.queries import LineRow, cart_query, read_cart
from carts.totals import LinePrice
from checkouts.errors import CartEmpty, CheckoutAlreadyPaid, MarketNotActive
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.queries import LoadedCheckout, load_open_checkouts, open_checkouts_query
from commerce.configuration.queries import own_settings_sql, parse_settings
from commerce.errors import NotFound
from commerce.events.operations import publish
from commerce.inventory.errors import InsufficientInventory
from commerce.inventory.reservations import release, reserve
from commerce.taxes.queries import STANDARD
from commerce.tenancy.instances import Columns, insert_with_children
from commerce.tenancy.locks import Resource, about_to_lock
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, Result, send
from commerce.tokens import generate_token
from discounts.in_force import may_have_automatic_sql

from .abandonment import mark_abandoned
from .holds import count_units
from .pricing import reprice

_CART_COLUMNS = Columns(
    Cart,
    "c",
    {
        "market_status": "m.status",
        "account_status": "a.status",
        # Null if the customer was redacted. A join would look for the customer that the cart had before a wait for its lock.
        "live_customer_id": """(
            SELECT u.id FROM customers u
             WHERE u.account_id = c.account_id AND u.id = c.customer_id AND u.redacted_at IS NULL)""",
        "shipping_tax_rate_bp": "t.rate_bp",
        "own_settings": own_settings_sql("c.account_id"),
        "may_have_automatic_discounts": may_have_automatic_sql("c.account_id"),
    },
)
_LOCK_CART = Prepared(f"""
    SELECT {_CART_COLUMNS.sql}
      FROM carts c
      JOIN markets m ON m.account_id = c.account_id AND m.id = c.market_id
      JOIN accounts a ON a.id = c.account_id
      LEFT JOIN tax_rates t
        ON t.account_id = c.account_id AND t.country_code = m.country_code AND t.tax_class = '{STANDARD}'
     WHERE c.account_id = %s AND c.token = %s
       FOR UPDATE OF c
""")  # noqa: S608  the columns are constant


def create_checkout(*, cart_token: str, email: str, now: datetime) -> LoadedCheckout:
    """Freeze an active cart and hold its stock until the checkout expires.

    Raises `NotFound`, `CartNotActive`, `MarketNotActive`, `CartEmpty`, `CheckoutAlreadyPaid`,
    `InsufficientInventory`, and whatever `require_open` raises.
    """
    # Before the account's status is read. Otherwise archiving could miss this checkout, and leave it open.
    hold_off_archiving()
    about_to_lock(Resource.CART)
    about_to_lock(Resource.CHECKOUT)
    # In this order: the lines are read after the cart was locked, so that they can't change any more.
    locked, lines_found, older_found = send(
        _LOCK_CART.call([current_account_id(), cart_token]),
        cart_query(cart_token),
        open_checkouts_query(cart_token),
    )
    cart = _read_cart(locked, now=now)
    frozen = read_cart(lines_found)
    if not frozen.lines:
        raise CartEmpty
    gone = [line for line, _ in frozen.lines if not line.is_on_sale]
    if gone:
        # Variants that were archived after they had been added to the cart.
        items = [{"variant_id": line.variant_id, "requested": line.quantity, "available": 0} for line in gone]
        raise InsufficientInventory(items=items)
    older = _end_older_session(load_open_checkouts(older_found), now=now)
    settings = parse_settings(vars(cart)["own_settings"])
    ttl_minutes = int(settings["commerce.checkout.session_ttl_minutes"])
    checkout = _make_checkout(cart, email=email, ttl_minutes=ttl_minutes, now=now)
    lines = [
        _freeze_line(checkout, index, line, price)
        for index, (line, price) in enumerate(frozen.lines, start=1)
    ]
    # Priced before anything is saved, so that the rows are inserted with their amounts.
    reprice(checkout, lines, now=now)
    checkout.is_stock_reserved = settings["commerce.checkout.reserve_at"] == "checkout_enter"
    insert_with_children(checkout, lines, through="checkout")
    if checkout.is_stock_reserved:
        # Releases the older checkout's units under the same locks, so that nobody else gets them in between.
        reserve(checkout_id=checkout.pk, wanted=count_units(lines), instead_of=older, now=now)
    elif older:
        release(checkout_ids=older)
    _publish_created(checkout, now=now)
    return LoadedCheckout(checkout, lines)


def _read_cart(locked: Result, *, now: datetime) -> Cart:
    """Check that a checkout may begin, and return the cart. A redacted customer is left out."""
    if not locked.rows:
        raise NotFound
    (cart,) = _CART_COLUMNS.read(locked.rows)
    beside = vars(cart)
    # Checked again: the middleware read the status before this transaction, and may have read it from a cache.
    require_open(beside["account_status"], kind="storefront")
    require_active(cart, now=now)
    if beside["market_status"] != Market.Status.ACTIVE:
        raise MarketNotActive
    cart.customer_id = beside["live_customer_id"]
    return cart


def _end_older_session(open_ones: Sequence[Checkout], *, now: datetime) -> list[int]:
    """Abandon the cart's open checkout. Return its id, because the caller releases its stock."""
    # A new checkout would let the customer pay for the same cart twice.
    for older in open_ones:
        if older.ready_to_complete:
            raise CheckoutAlreadyPaid(checkout_token=older.token)
    if open_ones:
        mark_abandoned(open_ones, now=now)
    return [older.pk for older in open_ones]


def _make_checkout(cart: Cart, *, email: str, ttl_minutes: int, now: datetime) -> Checkout:
    checkout = Checkout(
        token=generate_token(),
        cart=cart,
        market_id=cart.market_id,
        customer_id=cart.customer_id,
        email=email,
        currency=cart.currency,
        locale=cart.locale,
        prices_include_tax=cart.prices_include_tax,
        shipping_tax_rate_bp=vars(cart)["shipping_tax_rate_bp"] or 0,
        utm=cart.utm,
        referrer=cart.referrer,
        expires_at=now + timedelta(minutes=ttl_minutes),
    )
    # Queries set these on a loaded checkout; a new one gets them here.
    checkout.cart_token, checkout.order_token = cart.token, None
    checkout.may_have_automatic_discounts = vars(cart)["may_have_automatic_discounts"]
    return checkout


def _freeze_line(checkout: Checkout, position: int, line: LineRow, price: LinePrice) -> CheckoutLineItem:
    return CheckoutLineItem(
        checkout=checkout,
        position=position,
        variant_id=line.variant_id,
        product_id=line.product_id,
        sku=line.sku,
        title=line.title,
        quantity=line.quantity,
        custom_attributes=line.attributes,
        weight_grams=line.weight_grams,
        tax_class=line.tax_class,
        tax_rate_bp=line.tax_rate_bp,
        unit_price_with_tax_cents=price.unit_with_tax_cents,
        unit_price_without_tax_cents=price.unit_without_tax_cents,
        line_total_with_tax_cents=price.with_tax_cents,
        line_total_without_tax_cents=price.without_tax_cents,
        line_tax_cents=price.tax_cents,
    )


def _publish_created(checkout: Checkout, *, now: datetime) -> None:
    data = {
        "checkout_id": checkout.pk,
        "checkout_token": checkout.token,
        "cart_id": checkout.cart_id,
        "customer_id": checkout.customer_id,
        "email": checkout.email,
        "market_id": checkout.market_id,
        "currency": checkout.currency,
        "total_cents": checkout.total_cents,
    }
    publish(type="checkout.created", data=data, now=now)
