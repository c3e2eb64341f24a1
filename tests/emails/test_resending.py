from uuid import uuid4

import pytest
from django.utils import timezone

from commerce.customers.operations.customers import redact_customer
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails.models import EmailDelivery
from emails.resending import resend_delivery
from tests.factories import make_customer, make_delivery
from tests.threads import run_threads


def resend(shop, delivery, click=None):
    with shop.scope():
        return resend_delivery(delivery_id=delivery.pk, click=click or uuid4(), now=timezone.now())


def test_message_sent_again_becomes_a_delivery_of_its_own(shop, renderer, mail_dir):
    first = make_delivery(
        shop,
        template_key="order.confirmation",
        to_email="ann@example.com",
        locale="de-AT",
        ctx={"order": {"number": "1001"}},
        reference_type="order",
        reference_id=7,
    )

    assert resend(shop, first)
    run_due()

    with shop.scope():
        again = EmailDelivery.objects.exclude(pk=first.pk).get()
        first.refresh_from_db()
    assert (again.to_email, again.locale, again.ctx) == (first.to_email, first.locale, first.ctx)
    assert (again.reference_type, again.reference_id) == ("order", 7)
    assert again.provider_message_id != first.provider_message_id
    assert len(list(mail_dir.glob("*.eml"))) == 1


def test_person_who_is_erased_before_it_goes_out_gets_nothing(shop, renderer, mail_dir):
    customer = make_customer(shop)
    delivery = make_delivery(shop, template_key="order.confirmation", customer=customer)

    resend(shop, delivery)
    with shop.scope():
        redact_customer(customer_id=customer.pk, now=timezone.now())
    run_due()

    with shop.scope():
        dispatch = OutboxDispatch.objects.get()
    assert dispatch.status == "cancelled"
    assert "to_email" not in dispatch.payload
    assert list(mail_dir.glob("*.eml")) == []


@pytest.mark.django_db(transaction=True)
def test_clicks_at_the_same_time_send_once(shop):
    delivery = make_delivery(shop, template_key="order.confirmation")
    click = uuid4()

    results = run_threads(4, lambda _: resend(shop, delivery, click))

    assert sorted(results) == [False, False, False, True]
    with shop.scope():
        assert OutboxDispatch.objects.count() == 1
