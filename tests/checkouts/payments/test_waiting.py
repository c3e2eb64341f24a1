"""If the places for requests that wait for Stripe are taken, others are refused at once, without side effects."""

from contextlib import ExitStack

import pytest

from commerce.inventory.models import InventoryLevel
from commerce.rest.models import IdempotencyRecord
from commerce.waiting import Call, waiting_call
from tests.problems import problem

REFUSED = (503, "too_many_outside_calls")
# Places of the account, and in total.
PLACES = {"account": 2, "process": 4}


@pytest.fixture
def take_places(settings):
    """Take places by waiting requests, of the shop itself or of others."""
    with ExitStack() as waiting:

        def take(shop, whose):
            settings.WEB_CALLS = settings.WEB_CALLS | {"payment": PLACES["process"]}
            for number in range(PLACES[whose]):
                account_id = shop.id if whose == "account" else -1 - number
                waiting.enter_context(waiting_call(Call.PAYMENT, account_id, within_s=30))

        take.end = waiting.close
        yield take


def state_of(payment):
    attempts = [(attempt.status, attempt.provider_reference) for attempt in payment.attempts]
    with payment.shop.scope():
        reserved = list(InventoryLevel.objects.values_list("reserved", flat=True))
        records = IdempotencyRecord.objects.count()
    return payment.shown, attempts, reserved, records


@pytest.mark.parametrize("whose", PLACES)
def test_start_is_refused_with_nothing_done_and_can_be_sent_again(till, stripe, take_places, whose):
    payment = till("stripe")
    before = state_of(payment)
    take_places(payment.shop, whose)

    refused = payment.start(idempotency_key="a")
    after = state_of(payment)
    calls = list(stripe.calls)
    take_places.end()
    again = payment.start(idempotency_key="a")

    assert (problem(refused), refused["Retry-After"]) == (REFUSED, "2")
    assert (after, calls) == (before, [])
    assert again.status_code == 200
    assert len(payment.attempts) == len(stripe.sessions) == 1


@pytest.mark.parametrize("whose", PLACES)
def test_confirmation_is_refused_with_nothing_done_and_can_be_sent_again(till, stripe, take_places, whose):
    payment = till("stripe")
    payment.start()
    stripe.pay()
    before, calls = state_of(payment), list(stripe.calls)
    take_places(payment.shop, whose)

    refused = payment.confirm(idempotency_key="a")
    after, calls_after = state_of(payment), list(stripe.calls)
    take_places.end()
    again = payment.confirm(idempotency_key="a")

    assert (problem(refused), refused["Retry-After"]) == (REFUSED, "2")
    assert (after, calls_after) == (before, calls)
    assert again.json()["checkout"]["ready_to_complete"] is True


@pytest.mark.parametrize("method", ["cod", "test_card"])
def test_payment_without_an_outside_service_needs_no_place(till, take_places, method):
    payment = till(method)
    take_places(payment.shop, "process")

    assert payment.start().status_code == 200
    assert payment.confirm().status_code == 200


def test_other_shop_has_a_place_left_while_one_has_taken_its_own(till, stripe, make_shop, take_places):
    payment = till("stripe")
    neighbour = make_shop()
    take_places(neighbour, "account")

    assert payment.start().status_code == 200


def test_start_that_goes_on_after_a_lost_answer_needs_a_place_too(till, stripe, take_places):
    payment = till("stripe")
    stripe.fail_next("reset", after=True)
    payment.start(idempotency_key="a")
    before = state_of(payment)
    take_places(payment.shop, "account")

    refused = payment.start(idempotency_key="a")
    after = state_of(payment)
    take_places.end()

    assert problem(refused) == REFUSED
    assert after == before
    assert payment.start(idempotency_key="a").status_code == 200
    assert len(stripe.sessions) == 1
