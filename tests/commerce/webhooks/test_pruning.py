from datetime import timedelta

from django.utils import timezone

from commerce.webhooks import tasks
from commerce.webhooks.operations import prune_deliveries
from config.celery import app
from tests.commerce.webhooks.rows import log_of, make_delivery, make_endpoint


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


def test_prune_is_scheduled():
    assert app.conf.beat_schedule["prune-webhook-deliveries"]["task"] == tasks.prune.name
