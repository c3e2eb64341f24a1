import pytest
from django.db import IntegrityError, transaction

from commerce.outbox.models import OutboxDispatch
from tests.factories import make_dispatch


def test_dispatch_with_a_used_key_is_refused_by_the_database(shop):
    make_dispatch(shop, idempotency_key="a")

    with shop.scope():
        with pytest.raises(IntegrityError, match="outbox_dispatches_key"), transaction.atomic():
            make_dispatch(shop, idempotency_key="a")

        assert OutboxDispatch.objects.count() == 1


def test_dispatch_with_more_retries_than_it_may_have_is_refused_by_the_database(shop):
    dispatch = make_dispatch(shop, max_attempts=5)

    with shop.scope():
        with pytest.raises(IntegrityError, match="outbox_dispatches_attempts"), transaction.atomic():
            OutboxDispatch.objects.filter(pk=dispatch.pk).update(attempts=6)

        assert OutboxDispatch.objects.get().attempts == 0
