from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.events.models import Event
from commerce.loops.models import PostponedRow
from discounts.models import Voucher
from discounts.tasks import sweep_vouchers
from discounts.vouchers import sweeping
from discounts.vouchers.sweeping import expire_overdue_vouchers
from tests.discounts.vouchers.cards import event_types, make_voucher, state
from tests.metrics import failures_of
from tests.poison import poisoned


def test_overdue_vouchers_of_every_account_expire(shop, other_shop):
    vouchers = [(place, make_voucher(place, is_overdue=True)) for place in (shop, other_shop)]

    assert expire_overdue_vouchers(now=timezone.now()) == 2

    for place, voucher in vouchers:
        assert state(place, voucher) == (10_000, 0, "expired")
        assert event_types(place) == ["voucher.issued", "voucher.expired"]
    with shop.scope():
        assert Event.objects.latest("pk").data == {
            "voucher_id": str(vouchers[0][1].pk),
            "currency": "EUR",
            "balance_cents": "10000",
        }
    assert expire_overdue_vouchers(now=timezone.now()) == 0


def test_vouchers_whose_time_is_not_over_are_left_alone(shop):
    vouchers = [make_voucher(shop), make_voucher(shop, expires_at=timezone.now() + timedelta(seconds=30))]

    assert expire_overdue_vouchers(now=timezone.now()) == 0
    assert [state(shop, voucher)[2] for voucher in vouchers] == ["active", "active"]


@pytest.mark.parametrize("status", ["depleted", "disabled", "revoked"])
def test_vouchers_that_ended_otherwise_keep_their_status(shop, status):
    voucher = make_voucher(shop, is_overdue=True)
    with shop.scope():
        Voucher.objects.update(status=status)

    assert expire_overdue_vouchers(now=timezone.now()) == 0
    assert state(shop, voucher)[2] == status


def test_number_of_statements_does_not_depend_on_the_number_of_vouchers(shop, django_assert_num_queries):
    for number in (1, 4):
        for _ in range(number):
            make_voucher(shop, is_overdue=True)

        with django_assert_num_queries(9):
            assert expire_overdue_vouchers(now=timezone.now()) == number


def test_task_goes_on_until_nothing_is_overdue(shop, monkeypatch):
    monkeypatch.setattr(sweeping, "BATCH", 2)
    vouchers = [make_voucher(shop, is_overdue=True) for _ in range(5)]

    sweep_vouchers()

    assert [state(shop, voucher)[2] for voucher in vouchers] == ["expired"] * 5


@pytest.mark.django_db(transaction=True)
def test_vouchers_expire_beside_those_that_can_not(shop, other_shop, monkeypatch):
    """A whole batch of failing vouchers comes first."""
    monkeypatch.setattr(sweeping, "BATCH", 2)
    bad = [make_voucher(shop, is_overdue=True) for _ in range(3)]
    with shop.scope():
        Voucher.objects.update(expires_at=timezone.now() - timedelta(days=1))
    good = [(place, make_voucher(place, is_overdue=True)) for place in (shop, other_shop)]
    before = failures_of("vouchers")

    with poisoned("vouchers", *(voucher.pk for voucher in bad)):
        sweep_vouchers()

        assert [state(place, voucher)[2] for place, voucher in good] == ["expired"] * 2
        assert [state(shop, voucher)[2] for voucher in bad] == ["active"] * 3
        assert failures_of("vouchers") == before + 3
        assert expire_overdue_vouchers(now=timezone.now()) == 0
    with shop.scope():
        assert PostponedRow.objects.count() == 3
        PostponedRow.objects.update(retry_at=timezone.now() - timedelta(seconds=1))
    sweep_vouchers()
    assert [state(shop, voucher)[2] for voucher in bad] == ["expired"] * 3
    with shop.scope():
        assert not PostponedRow.objects.exists()
