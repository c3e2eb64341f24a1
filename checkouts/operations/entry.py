"""Enter checkout: freeze the cart, hold its stock and end its older checkout, in one transaction."""

from datetime import datetime, timedelta

from accounts.archiving import hold_off_archiving
from accounts.authentication import require_open
from accounts.models import Market
from carts.models import Cart
from carts.operations import require_active
from carts.queries import LineRow, get_cart
from carts.totals import LinePrice
from checkouts.errors import CartEmpty, CheckoutAlreadyPaid, MarketNotActive
from checkouts.models import Checkout, CheckoutLineItem
from checkouts.phases import OPEN_PHASES
from checkouts.queries import LoadedCheckout
from commerce.configuration.queries import read_settings
from commerce.errors import NotFound
from commerce.events.operations import publish
from commerce.inventory.errors import InsufficientInventory
from commerce.inventory.reservations import release, reserve
from commerce.taxes.queries import STANDARD, rates_for
from commerce.tenancy.instances import insert_rows
from commerce.tenancy.locks import Resource, about_to_lock, lock
from commerce.tenancy.scope import current_account_id
from commerce.tokens import generate_token

from .abandonment import ENDED_COLUMNS, mark_abandoned
from .holds import count_units
from .pricing import reprice

_LOCK_CART = """
    SELECT c.*, m.country_code AS market_country, m.status AS market_status, a.status AS account_status,
           u.id AS live_customer_id
      FROM carts c
      JOIN markets m ON m.account_id = c.account_id AND m.id = c.market_id
      JOIN accounts a ON a.id = c.account_id
      LEFT JOIN customers u ON u.account_id = c.account_id AND u.id = c.customer_id AND u.redacted_at IS NULL
     WHERE c.account_id = %s AND c.token = %s
       FOR UPDATE OF c
"""


def create_checkout(*, cart_token: str, email: str, now: datetime) -> LoadedCheckout:
    """Freeze an active cart and hold its stock until the checkout expires.

    Raises `NotFound`, `CartNotActive`, `MarketNotActive`, `CartEmpty`, `CheckoutAlreadyPaid`,
    `InsufficientInventory`, and whatever `require_open` raises.
    """
    cart, country_code = _lock_cart(cart_token, now=now)
    # Read after the cart was locked, so that its lines can't change any more.
    frozen = get_cart(cart_token)
    if not frozen.lines:
        raise CartEmpty
    gone = [line for line, _ in frozen.lines if not line.is_on_sale]
    if gone:
        # Variants that were archived after they had been added to the cart.
        items = [{"variant_id": line.variant_id, "requested": line.quantity, "available": 0} for line in gone]
        raise InsufficientInventory(items=items)
    older = _end_older_session(cart, now=now)
    settings = read_settings()
    ttl_minutes = int(settings["commerce.checkout.session_ttl_minutes"])
    checkout = _make_checkout(cart, country_code=country_code, email=email, ttl_minutes=ttl_minutes, now=now)
    lines = [
        _freeze_line(checkout, index, line, price)
        for index, (line, price) in enumerate(frozen.lines, start=1)
    ]
    # Priced before anything is saved, so that the rows are inserted with their amounts.
    reprice(checkout, lines, now=now)
    checkout.is_stock_reserved = settings["commerce.checkout.reserve_at"] == "checkout_enter"
    insert_rows([checkout])
    for line in lines:
        line.checkout_id = checkout.pk
    insert_rows(lines)
    if checkout.is_stock_reserved:
        # Releases the older checkout's units under the same locks, so that nobody else gets them in between.
        reserve(checkout_id=checkout.pk, wanted=count_units(lines), instead_of=older, now=now)
    elif older:
        release(checkout_ids=older)
    _publish_created(checkout, now=now)
    return LoadedCheckout(checkout, lines)


def _lock_cart(token: str, *, now: datetime) -> tuple[Cart, str]:
    """Lock the cart; return it, without a redacted customer, and the country of its market."""
    # Before the account's status is read below. Otherwise archiving could miss this checkout, and leave it open.
    hold_off_archiving()
    about_to_lock(Resource.CART)
    cart = next(iter(Cart.objects.raw(_LOCK_CART, [current_account_id(), token])), None)
    if cart is None:
        raise NotFound
    beside = vars(cart)
    # Checked again: the middleware read the status before this transaction, and may have read it from a cache.
    require_open(beside["account_status"], kind="storefront")
    require_active(cart, now=now)
    if beside["market_status"] != Market.Status.ACTIVE:
        raise MarketNotActive
    cart.customer_id = beside["live_customer_id"]
    return cart, beside["market_country"]


def _end_older_session(cart: Cart, *, now: datetime) -> list[int]:
    """Abandon the cart's open checkout. Return its id, because the caller releases its stock."""
    open_ones = lock(Checkout.objects.filter(cart=cart, phase__in=OPEN_PHASES))
    older = open_ones.only(*ENDED_COLUMNS).first()
    if older is None:
        return []
    # A new checkout would let the customer pay for the same cart twice.
    if older.ready_to_complete:
        raise CheckoutAlreadyPaid(checkout_token=older.token)
    mark_abandoned([older], now=now)
    return [older.pk]


def _make_checkout(cart: Cart, *, country_code: str, email: str, ttl_minutes: int, now: datetime) -> Checkout:
    checkout = Checkout(
        token=generate_token(),
        cart=cart,
        market_id=cart.market_id,
        customer_id=cart.customer_id,
        email=email,
        currency=cart.currency,
        locale=cart.locale,
        prices_include_tax=cart.prices_include_tax,
        shipping_tax_rate_bp=rates_for(country_code).get(STANDARD, 0),
        utm=cart.utm,
        referrer=cart.referrer,
        expires_at=now + timedelta(minutes=ttl_minutes),
    )
    # Queries set these on a loaded checkout; a new one gets them here.
    checkout.cart_token, checkout.order_token = cart.token, None
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
