import pytest
from django.db import IntegrityError, transaction

from emails.models import EmailDelivery
from tests.factories import make_delivery


def test_delivery_with_a_used_key_is_refused_by_the_database(shop, other_shop):
    make_delivery(shop, idempotency_key="a")
    make_delivery(other_shop, idempotency_key="a")

    with shop.scope():
        with pytest.raises(IntegrityError, match="email_deliveries_key"), transaction.atomic():
            make_delivery(shop, idempotency_key="a")

        assert EmailDelivery.objects.count() == 1
