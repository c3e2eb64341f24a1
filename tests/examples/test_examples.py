"""The examples of the API document are recorded from requests to the application, so they can't be wrong."""

import os

import orjson
import pytest

from commerce.events.types import EventType
from tests.examples import walk_messages, walk_sale, walk_shop
from tests.examples.recording import FOLDER, Recorder, RecordingClient
from tests.examples.walk_shop import Walk
from tests.openapi import document


@pytest.fixture
def recorded(make_shop, settings, names, renderer, mail_dir, vies) -> Recorder:
    recorder = Recorder()
    shop = make_shop(handle="acme")
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


def test_recorded_examples_are_current(recorded):
    files = recorded.make_files()

    # `make examples` rewrites them.
    if "RECORD_EXAMPLES" in os.environ:
        for path in FOLDER.glob("*.json"):
            path.unlink()
        for path, content in files.items():
            path.write_bytes(content)
    assert {path.name for path in FOLDER.glob("*.json")} == {path.name for path in files}
    for path, content in files.items():
        assert orjson.loads(path.read_bytes()) == orjson.loads(content), path.name


def test_operation_and_event_has_an_example():
    recorded = {name for path in FOLDER.glob("*.json") for name in orjson.loads(path.read_bytes())}
    operations = {
        operation["operationId"] for path in document()["paths"].values() for operation in path.values()
    }

    assert recorded == operations | set(EventType.values)
