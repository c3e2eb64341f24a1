"""A shop whose requests are recorded, and the doubles of other services that they need."""

import pytest

from tests.emails.conftest import mail_dir, renderer  # noqa: F401  fixtures
from tests.examples import walk_messages, walk_sale, walk_shop
from tests.examples.recording import Recorder, RecordingClient
from tests.examples.walk_shop import Walk
from tests.nameserver import name_server
from tests.shops import Shop


@pytest.fixture
def names(settings):
    with name_server() as server:
        settings.DNS_SERVERS = [server.address]
        yield server


@pytest.fixture
def acme(make_shop) -> Shop:
    return make_shop(handle="acme")


@pytest.fixture
def recorded(acme, names, renderer, mail_dir, vies) -> Recorder:  # noqa: F811  the fixtures
    """The requests of a shop that is set up and sells, with their answers."""
    recorder = Recorder()
    shop = acme
    walk = Walk(
        shop=shop,
        admin=RecordingClient(shop.admin, recorder),
        storefront=RecordingClient(shop.storefront, recorder),
        workspace=RecordingClient(shop.workspace, recorder),
    )
    walk_shop.manage_accounts(walk, names)
    walk_shop.manage_settings(walk)
    walk_shop.manage_keys(walk)
    walk_shop.manage_markets(walk)
    walk_shop.manage_taxes(walk)
    variant_id, _ = walk_shop.manage_products(walk)
    walk_shop.manage_stock(walk, variant_id)
    customer_id = walk_shop.manage_customers(walk)
    rate = walk_shop.manage_shipping(walk)
    code = walk_shop.manage_discounts(walk)
    card = walk_shop.manage_vouchers(walk)
    cart_token = walk_sale.fill_carts(walk, variant_id, customer_id)
    first = walk_sale.buy(walk, cart_token, rate, code=code, card=card)
    second = walk_sale.buy_quickly(walk, variant_id, rate)
    walk_sale.manage_orders(walk, first, second)
    walk_messages.manage_templates(walk)
    walk_messages.send_emails(walk, customer_id, first["order_id"])
    walk_messages.receive_from_stripe(walk)
    walk_messages.manage_endpoints(walk)
    walk_messages.manage_dispatches(walk)
    recorder.events = {event["type"]: event for event in walk_messages.read_events(walk)}
    return recorder
