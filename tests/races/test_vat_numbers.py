"""Concurrent work while VIES checks a VAT number: no transaction waits for it."""

import os
import time
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.models import Account
from checkouts.models import Checkout
from tests import factories
from tests.storefront import ADDRESS, checkout_in, take_step
from tests.threads import run_threads

pytestmark = pytest.mark.django_db(transaction=True)

NUMBERS = (
    {"vat_country_code": "AT", "vat_number": "U57194903"},
    {"vat_country_code": "EL", "vat_number": "094259216"},
)
IN_TRANSACTION = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = %s AND backend_type = 'client backend' AND pid <> pg_backend_pid()
       AND xact_start < clock_timestamp() - interval '100 ms'
"""


@pytest.fixture
def rate(shop):
    with shop.scope():
        Account.objects.filter(pk=shop.id).update(vat_number="CZ25123891")
    factories.make_tax_rate(shop)
    return factories.make_rate(shop, price_cents=490)


@pytest.fixture
def checkout(shop, rate):
    return checkout_in("shipping", shop, (factories.make_variant(shop, price_cents=1190), 1), rate=rate)


def put(shop, checkout, number=NUMBERS[0]):
    return shop.storefront.put(f"checkouts/{checkout['token']}/vat.json", number)


def get(shop, checkout):
    return shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"]


def run_meanwhile(vies, action):
    """Do it once while VIES is asked. The returned list gets its results."""
    results = []

    def act():
        try:
            results.append(action())
        finally:
            connections.close_all()

    vies.before_answer = act
    return results


def open_transactions():
    # A connection of the pool may be busy for a moment, when it is opened or checked.
    time.sleep(0.3)
    with psycopg.connect(os.environ["TEST_DATABASE_SUPERUSER_URL"], autocommit=True) as monitor:
        return monitor.execute(IN_TRANSACTION, [connection.settings_dict["NAME"]]).fetchone()[0]


def test_no_transaction_is_open_during_the_call(shop, checkout, vies):
    counts = run_meanwhile(vies, open_transactions)

    answer = put(shop, checkout)

    assert (answer.status_code, answer.json()["checkout"]["vat"]["reverse_charge"]) == (200, True)
    assert counts == [0]


def test_checkout_is_free_during_the_call(shop, checkout, rate, vies):
    rivals = run_meanwhile(vies, lambda: take_step("shipping", shop, checkout["token"], rate=rate))

    answer = put(shop, checkout)

    assert (answer.status_code, rivals[0]["phase"]) == (200, "shipping")
    assert answer.json()["checkout"]["totals"]["tax_cents"] == "0"


def test_totals_that_froze_during_the_call_stay(shop, checkout, rate, vies):
    rivals = run_meanwhile(vies, lambda: take_step("payment", shop, checkout["token"], rate=rate))

    answer = put(shop, checkout)

    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_phase")
    assert get(shop, checkout) == rivals[0]
    assert rivals[0]["vat"] is None


def test_checkout_that_ended_during_the_call_stays_ended(shop, checkout, vies):
    def end():
        with shop.scope():
            Checkout.objects.update(expires_at=timezone.now() - timedelta(minutes=1))

    run_meanwhile(vies, end)

    answer = put(shop, checkout)

    assert (answer.status_code, answer.json()["code"]) == (409, "checkout_expired")
    assert get(shop, checkout)["vat"] is None


def test_address_that_changed_during_the_call_counts(shop, rate, vies):
    checkout = checkout_in("address", shop, (factories.make_variant(shop, price_cents=1190), 1), rate=rate)
    swiss = {"shipping_address": ADDRESS | {"country_code": "CH"}, "same_as_shipping": True}
    run_meanwhile(vies, lambda: shop.storefront.put(f"checkouts/{checkout['token']}/address.json", swiss))

    shown = put(shop, checkout).json()["checkout"]

    assert (shown["vat"]["status"], shown["vat"]["reverse_charge"]) == ("valid", False)
    assert shown["totals"]["total_cents"] == "1190"


def test_of_two_numbers_at_once_one_stays_with_its_totals(shop, checkout, vies):
    vies.delay_s = 0.2

    answers = run_threads(2, lambda n: put(shop, checkout, NUMBERS[n]))

    assert [answer.status_code for answer in answers] == [200, 200]
    shown = get(shop, checkout)
    assert shown["vat"] in [answer.json()["checkout"]["vat"] for answer in answers]
    assert (shown["totals"]["tax_cents"], shown["totals"]["total_cents"]) == ("0", "1412")


def test_number_and_its_removal_at_once_leave_totals_that_fit(shop, checkout, vies):
    answers = run_threads(6, lambda n: put(shop, checkout, NUMBERS[0] if n % 2 else {"vat_number": ""}))

    assert {answer.status_code for answer in answers} == {200}
    shown = get(shop, checkout)
    is_untaxed = bool(shown["vat"] and shown["vat"]["reverse_charge"])
    assert shown["totals"]["total_cents"] == ("1412" if is_untaxed else "1680")
