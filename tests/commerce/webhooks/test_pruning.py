from datetime import timedelta

import pytest
from django.utils import timezone

from commerce.webhooks import tasks
from commerce.webhooks.operations import prune_deliveries
from config.celery import app
from tests.commerce.webhooks.rows import log_of, make_delivery, make_endpoint
from tests.metrics import failures_of
from tests.poison import poisoned


def delivered(shop, *, days_ago):
    endpoint = make_endpoint(shop, url=f"https://93.184.216.34/{days_ago}")
    return make_delivery(shop, endpoint, created_at=timezone.now() - timedelta(days=days_ago))


def test_prune_forgets_old_deliveries_of_every_account(shop, other_shop):
    delivered(shop, days_ago=31)
    delivered(other_shop, days_ago=400)
    kept = delivered(shop, days_ago=29)

    tasks.prune()

    assert (log_of(shop), log_of(other_shop)) == ([kept], [])


def test_prune_keeps_as_long_as_is_set(shop, settings):
    settings.WEBHOOKS_KEEP_DAYS = 400
    kept = delivered(shop, days_ago=399)

    tasks.prune()

    assert log_of(shop) == [kept]


def test_prune_works_in_batches_from_the_oldest(shop):
    newest, *_ = [delivered(shop, days_ago=days) for days in (31, 32, 33)]

    assert prune_deliveries(max_age=timedelta(days=30), batch=2) == (2, [])
    assert log_of(shop) == [newest]


@pytest.mark.django_db(transaction=True)
def test_prune_goes_on_past_what_can_not_be_deleted(shop, other_shop, monkeypatch):
    monkeypatch.setattr(tasks, "PRUNE_BATCH", 2)
    bad = [delivered(shop, days_ago=days) for days in (90, 91, 92)]
    for days in (31, 32, 33):
        delivered(other_shop, days_ago=days)
    before = failures_of("webhook_prune")

    with poisoned("webhook_deliveries", *(delivery.pk for delivery in bad)):
        tasks.prune()

        assert (log_of(shop), log_of(other_shop)) == (bad, [])
        assert failures_of("webhook_prune") == before + 3


def test_prune_is_scheduled():
    assert app.conf.beat_schedule["prune-webhook-deliveries"]["task"] == tasks.prune.name
