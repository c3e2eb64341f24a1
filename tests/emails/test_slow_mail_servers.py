"""Shops whose own mail servers are slow, and another shop's emails."""

import time
from datetime import timedelta
from threading import Thread

import pytest
from django.db import connections

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import finish_running, run_due
from emails.models import EmailDelivery
from emails.own_calls import NoPlace, forget_own_calls, has_place, is_slow, own_call
from tests.emails.api.sending import is_untouched, rows, send
from tests.emails.holding_smtp import PATIENCE_S, holding_server
from tests.factories import make_customer
from tests.problems import problem

SLOW_SHOPS = 10
# Of eight threads.
HELD = 3


@pytest.fixture(autouse=True)
def patience(settings, monkeypatch):
    """No call ends before its server answers."""
    settings.OUTSIDE_ALLOW_PRIVATE = True
    settings.OUTBOX_THREADS = 8
    for limit in ("smtp._TIMEOUT_S", "smtp.TOTAL_TIMEOUT_S"):
        monkeypatch.setattr(f"emails.providers.{limit}", PATIENCE_S)
    monkeypatch.setattr("emails.sending.WITHIN_S", PATIENCE_S)


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "It did not happen."
        time.sleep(0.02)


def in_thread(work):
    def run():
        try:
            work()
        finally:
            connections.close_all()

    thread = Thread(target=run)
    thread.start()
    return thread


def drain():
    run_due(within=timedelta(seconds=PATIENCE_S))
    finish_running()


@pytest.mark.parametrize("answer", [b"250 ok", b"450 later", b"550 no"])
@pytest.mark.django_db(transaction=True)
def test_emails_leave_while_mail_servers_of_many_shops_are_slow(
    make_shop, other_shop, renderer, mail_dir, enqueue_email, monkeypatch, answer
):
    monkeypatch.setattr("emails.resting.SLOW_S", 0)
    slow_shops = [make_shop() for _ in range(SLOW_SHOPS)]
    for shop in slow_shops:
        for number in range(3):
            enqueue_email(shop, key=f"slow:{number}")
    with holding_server(*slow_shops, answer=answer) as holder:
        worker = in_thread(drain)
        wait_for(lambda: holder.waiting >= HELD)
        for number in range(10):
            enqueue_email(other_shop, key=f"quick:{number}")

        wait_for(lambda: len(rows(other_shop, EmailDelivery)) == 10)

        # All were sent while no slow server had answered, and none was asked beyond the limit.
        assert (holder.waiting, holder.answered) == (HELD, 0)
        holder.may_answer.set()
        worker.join(PATIENCE_S)
    assert not worker.is_alive()
    assert [one.attempts for one in rows(other_shop, OutboxDispatch)] == [0] * 10
    # Messages that found no place wait without an attempt.
    waiting = [one for shop in slow_shops for one in rows(shop, OutboxDispatch) if one.status == "pending"]
    assert waiting
    assert {one.attempts for one in waiting} <= {0, 1}


@pytest.mark.django_db(transaction=True)
def test_requests_send_while_mail_servers_of_other_shops_are_slow(make_shop, other_shop, renderer, mail_dir):
    first, second = make_shop(), make_shop()
    customers = {each: make_customer(each, email="ann@example.com") for each in (first, second, other_shop)}
    with holding_server(first, second, answer=b"250 ok") as holder:
        answers = []
        waiting = in_thread(lambda: answers.append(send(first, customers[first])))
        wait_for(lambda: holder.waiting == 1)

        refused = send(second, customers[second])
        sent = send(other_shop, customers[other_shop])

        assert (holder.waiting, holder.answered) == (1, 0)
        holder.may_answer.set()
        waiting.join(PATIENCE_S)
    assert problem(refused) == (503, "too_many_outside_calls")
    assert is_untouched(second)
    assert sent.status_code == 201
    assert [answer.status_code for answer in answers] == [201]


def test_calls_of_own_providers_leave_places():
    with own_call(1, among=8), own_call(2, among=8):
        assert has_place(3, among=8)
        with own_call(3, among=8):
            assert not has_place(4, among=8)
            with pytest.raises(NoPlace), own_call(4, among=8):
                pass
    assert has_place(4, among=8)


@pytest.mark.parametrize("among", [1, 2])
def test_process_with_few_places_has_one_for_own_providers(among):
    with own_call(1, among=among):
        assert not has_place(2, among=among)
    assert has_place(2, among=among)


def test_accounts_whose_provider_was_slow_share_fewer_places(monkeypatch):
    monkeypatch.setattr("emails.own_calls.SLOW_S", 0)
    for account_id in (1, 2, 3):
        with own_call(account_id, among=8):
            pass
    assert [is_slow(account_id) for account_id in (1, 2, 3, 4)] == [True, True, True, False]

    with own_call(1, among=8), own_call(2, among=8):
        assert not has_place(3, among=8)
        assert has_place(4, among=8)

    forget_own_calls()
    with own_call(1, among=8), own_call(2, among=8):
        assert has_place(3, among=8)
