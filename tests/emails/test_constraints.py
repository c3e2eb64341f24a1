import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from emails.models import EmailDelivery, EmailDeliveryEvent
from tests.factories import make_delivery


def test_delivery_with_a_used_key_is_refused_by_the_database(shop, other_shop):
    make_delivery(shop, idempotency_key="a")
    make_delivery(other_shop, idempotency_key="a")

    with shop.scope():
        with pytest.raises(IntegrityError, match="email_deliveries_key"), transaction.atomic():
            make_delivery(shop, idempotency_key="a")

        assert EmailDelivery.objects.count() == 1


def test_event_told_twice_is_refused_by_the_database(shop):
    delivery = make_delivery(shop)
    now = timezone.now()
    event = {"delivery": delivery, "event_key": "a", "type": "x", "occurred_at": now, "received_at": now}

    with shop.scope():
        EmailDeliveryEvent.objects.create(**event)
        with pytest.raises(IntegrityError, match="email_delivery_events_key"), transaction.atomic():
            EmailDeliveryEvent.objects.create(**event)

        assert EmailDeliveryEvent.objects.count() == 1


def test_delivery_with_a_long_subject_is_refused_by_the_database(shop):
    with shop.scope():
        make_delivery(shop, idempotency_key="a", subject="\N{SLIGHTLY SMILING FACE}" * 998)
        with (
            pytest.raises(IntegrityError, match="email_deliveries_subject_size"),
            transaction.atomic(),
        ):
            make_delivery(shop, idempotency_key="b", subject="\N{SLIGHTLY SMILING FACE}" * 999)

        assert EmailDelivery.objects.count() == 1
