"""Emails, the outbox and the export of rows."""

import csv

import orjson

from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.backoffice.clients import messages_of


def test_html_of_a_message_is_shown_where_it_can_do_nothing(shop, owner):
    delivery = factories.make_delivery(
        shop, html='<script>alert("1")</script><img src="https://x.example/p.gif">'
    )

    page = owner.get(f"emails/emaildelivery/{delivery.pk}/change/").content.decode()

    assert '<iframe sandbox srcdoc="&lt;meta http-equiv=&quot;Content-Security-Policy&quot;' in page
    assert "default-src &#x27;none&#x27;" in page
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;" in page
    assert "<script>alert" not in page


def test_dead_dispatch_is_retried(shop, owner):
    dispatch = factories.make_dispatch(shop, status="dead", attempts=5)

    owner.act("outbox/outboxdispatch/", "retry", dispatch.pk)

    with shop.scope():
        dispatch.refresh_from_db()
    assert (dispatch.status, dispatch.attempts) == ("pending", 0)


def test_retry_of_several_happens_whole_or_not_at_all(shop, owner):
    dead = factories.make_dispatch(shop, status="dead")
    done = factories.make_dispatch(shop, status="succeeded")

    answer = owner.act("outbox/outboxdispatch/", "retry", dead.pk, done.pk)

    assert messages_of(answer) == ["Only a dead or cancelled dispatch can be retried"]
    with shop.scope():
        assert set(OutboxDispatch.objects.values_list("status", flat=True)) == {"dead", "succeeded"}


def test_export_has_plain_values_and_no_formulas(shop, owner):
    customer = factories.make_customer(shop, first_name="=1+1", tags=["a", "b"], total_spent_cents=-5)

    answer = owner.act("customers/customer/", "export_as_csv", customer.pk)

    (row,) = csv.DictReader(answer.content.decode().splitlines())
    assert (row["id"], row["email"]) == (str(customer.pk), customer.email)
    assert (row["first_name"], row["total_spent_cents"], row["redacted_at"]) == ("'=1+1", "-5", "")
    assert orjson.loads(row["tags"]) == ["a", "b"]
    assert "account_id" not in row


def test_export_takes_one_statement_for_any_number_of_rows(shop, owner, django_assert_num_queries):
    for more in (1, 2):
        deliveries = [factories.make_delivery(shop).pk for _ in range(more)]
        # Session, user, membership; five savepoints and settings; the count of the list, and the rows.
        with django_assert_num_queries(11):
            owner.act("emails/emaildelivery/", "export_as_csv", *deliveries)
