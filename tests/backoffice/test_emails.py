"""Sent messages: what is shown, and sending one again."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from django.utils.html import escape

from commerce.backoffice.models import StaffAction
from commerce.outbox.models import OutboxDispatch
from emails.operations import record_event
from tests import factories
from tests.backoffice.clients import messages_of

LIST = "emails/emaildelivery/"
STATISTICS = f"{LIST}statistics/"
# Session, user, membership, time zone; the scope opens and closes a savepoint and a setting.
AROUND = 9


def page_of(delivery, *parts):
    return "/".join([f"{LIST}{delivery.pk}", *(parts or ["change"]), ""])


def send_again(client, delivery, click=None):
    return client.confirm(page_of(delivery, "send_again"), click=click or uuid4())


def dispatches(shop):
    with shop.scope():
        return list(OutboxDispatch.objects.order_by("pk"))


def times_logged(shop):
    with shop.scope():
        return StaffAction.objects.count()


def tell(shop, delivery, event_type, occurred_at):
    with shop.scope():
        record_event(
            message_id=delivery.provider_message_id,
            event_type=event_type,
            event_key=f"{event_type}/{occurred_at.isoformat()}",
            occurred_at=occurred_at,
            now=timezone.now(),
        )


def test_html_of_a_message_is_shown_where_it_can_do_nothing(shop, owner):
    delivery = factories.make_delivery(
        shop, html='<script>alert("1")</script><img src="https://x.example/p.gif">'
    )

    page = owner.get(page_of(delivery)).content.decode()

    assert '<iframe sandbox srcdoc="&lt;meta http-equiv=&quot;Content-Security-Policy&quot;' in page
    assert "default-src &#x27;none&#x27;" in page
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;" in page
    assert "<script>alert" not in page


def test_page_shows_text_and_variables(shop, support):
    delivery = factories.make_delivery(shop, text="Hello <b>\nAnn", ctx={"order": {"number": "1001"}})

    page = support.get(page_of(delivery)).content.decode()

    assert "Hello &lt;b&gt;\nAnn</pre>" in page
    assert escape('{\n  "order": {\n    "number": "1001"\n  }\n}') in page


@pytest.mark.parametrize(
    ("reference_type", "reference_id", "shown"),
    [
        ("order", 7, '<a href="/backoffice/orders/order/7/change/" class="text-link">order 7</a>'),
        ("voucher", 7, '<a href="/backoffice/discounts/voucher/7/change/" class="text-link">voucher 7</a>'),
        ("<b>", 7, "&lt;b&gt; 7"),
        ("order", None, "order"),
    ],
)
def test_page_leads_to_what_the_message_is_about(shop, owner, reference_type, reference_id, shown):
    delivery = factories.make_delivery(shop, reference_type=reference_type, reference_id=reference_id)

    page = owner.get(page_of(delivery)).content.decode()

    assert shown in page


def test_timeline_goes_from_the_dispatch_to_what_the_provider_told(shop, owner):
    sent_at = timezone.now() - timedelta(hours=3)
    delivery = factories.make_delivery(shop, sent_at=sent_at, queued_at=sent_at - timedelta(hours=1))
    dispatch = factories.make_dispatch(shop, idempotency_key=delivery.idempotency_key)
    for event_type, hours in [("email.opened", 2), ("email.delivered", 1), ("email.opened", 3)]:
        tell(shop, delivery, event_type, sent_at + timedelta(hours=hours))

    page = owner.get(page_of(delivery))

    queued, *others = page.context["entries"]
    assert (queued.title, queued.detail) == ("Queued", f"Dispatch {dispatch.pk}")
    assert queued.link == f"/backoffice/outbox/outboxdispatch/{dispatch.pk}/change/"
    assert [moment.title for moment in others] == ["Sent", "Delivered", "Opened"]
    (events,) = page.context["inline_admin_formsets"]
    assert [form.instance.type for form in events.formset.forms] == [
        "email.opened",
        "email.delivered",
        "email.opened",
    ]


def test_timeline_of_a_message_whose_dispatch_was_pruned_has_no_link(shop, owner):
    delivery = factories.make_delivery(shop)

    queued = owner.get(page_of(delivery)).context["entries"][0]

    assert (queued.title, queued.detail, queued.link) == ("Queued", "", "")


def test_page_takes_a_fixed_number_of_statements(shop, owner, django_assert_num_queries):
    customer = factories.make_customer(shop)
    delivery = factories.make_delivery(shop, customer=customer)
    factories.make_dispatch(shop, idempotency_key=delivery.idempotency_key)
    owner.get(page_of(delivery))

    for hours in (1, 2):
        tell(shop, delivery, "email.opened", timezone.now() + timedelta(hours=hours))
        send_again(owner, delivery)
        # The message, its three bodies, its customer and dispatch, events and their count, the log.
        with django_assert_num_queries(AROUND + 9):
            owner.get(page_of(delivery))


@pytest.mark.parametrize("query", ["ann@", "message-7@x", "<message-7@x>"])
def test_message_is_found_by_the_beginning_of_its_recipient_and_by_its_message_id(shop, owner, query):
    wanted = factories.make_delivery(
        shop, to_email="ann@example.com", subject="Your order 1001", provider_message_id="<message-7@x>"
    )
    factories.make_delivery(shop, to_email="bob@example.com", subject="Else", provider_message_id="<8@x>")

    page = owner.get(LIST, q=query)

    assert [row.pk for row in page.context["cl"].result_list] == [wanted.pk]


@pytest.mark.parametrize(
    "query",
    [
        {"template_key": "voucher.issued"},
        {"status__exact": "bounced"},
        {"sent_at__gte": "2026-11-20 00:00:00+00:00"},
    ],
)
def test_messages_are_filtered(shop, owner, query):
    day = datetime(2026, 11, 20, tzinfo=UTC)
    wanted = factories.make_delivery(shop, template_key="voucher.issued", status="bounced", sent_at=day)
    factories.make_delivery(shop, template_key="order.shipped", sent_at=day - timedelta(days=1))

    page = owner.get(LIST, **query)

    assert [row.pk for row in page.context["cl"].result_list] == [wanted.pk]


def test_template_that_is_none_filters_everything_out(shop, owner):
    factories.make_delivery(shop)

    assert owner.get(LIST, template_key="nonsense").context["cl"].result_count == 0


def test_message_is_sent_again_as_a_new_one(shop, staff_of):
    customer = factories.make_customer(shop)
    delivery = factories.make_delivery(
        shop,
        template_key="order.shipped",
        to_email="ann@example.com",
        customer=customer,
        locale="de-AT",
        ctx={"order": {"number": "1001"}},
        reference_type="order",
        reference_id=7,
    )

    answer = send_again(staff_of(shop, role="manager"), delivery)

    assert messages_of(answer) == ["The email will be sent again."]
    (dispatch,) = dispatches(shop)
    assert (dispatch.task_name, dispatch.status) == ("send_email", "pending")
    assert dispatch.idempotency_key != delivery.idempotency_key
    assert dispatch.payload == {
        "template_key": "order.shipped",
        "to_email": "ann@example.com",
        "customer_id": customer.pk,
        "locale": "de-AT",
        "ctx": {"order": {"number": "1001"}},
        "reference_type": "order",
        "reference_id": 7,
    }
    assert times_logged(shop) == 1


def test_double_click_sends_once_and_is_logged_once(shop, owner):
    delivery = factories.make_delivery(shop, template_key="order.shipped")
    click = uuid4()

    answers = [send_again(owner, delivery, click) for _ in range(2)]

    assert [answer["HX-Refresh"] for answer in answers] == ["true", "true"]
    assert (len(dispatches(shop)), times_logged(shop)) == (1, 1)


def test_every_opening_of_the_dialog_may_send_once(shop, owner):
    delivery = factories.make_delivery(shop, template_key="order.shipped")
    path = page_of(delivery, "send_again")

    clicks = [owner.get(path).context["form"]["click"].value() for _ in range(2)]
    for click in clicks:
        send_again(owner, delivery, click)

    assert len(dispatches(shop)) == 2


@pytest.mark.parametrize("click", ["", "nonsense", "\0"])
def test_click_that_is_none_sends_nothing(shop, owner, click):
    delivery = factories.make_delivery(shop, template_key="order.shipped")

    answer = owner.confirm(page_of(delivery, "send_again"), click=click)

    assert answer.context["form"].errors["click"]
    assert dispatches(shop) == []


@pytest.mark.parametrize(
    ("customer", "message", "said"),
    [
        (
            {"email": None, "normalised_email": None, "redacted_at": datetime(2026, 11, 1, tzinfo=UTC)},
            {},
            "The customer's personal data has been erased",
        ),
        ({}, {"to_email": ""}, "The customer's personal data has been erased"),
        (
            {"notification_preferences": {"order.shipped": False}},
            {},
            "The customer has switched this email off",
        ),
        ({}, {"template_key": "gone"}, "There is no template gone."),
    ],
)
def test_sending_again_is_refused(shop, owner, customer, message, said):
    recipient = factories.make_customer(shop, **customer)
    delivery = factories.make_delivery(
        shop, **{"template_key": "order.shipped", "customer": recipient} | message
    )

    answer = send_again(owner, delivery)

    assert messages_of(answer) == [said]
    assert (dispatches(shop), times_logged(shop)) == ([], 0)


def test_support_may_not_send_again(shop, support):
    delivery = factories.make_delivery(shop, template_key="order.shipped")

    assert send_again(support, delivery).status_code == 403
    assert dispatches(shop) == []


def test_message_of_another_shop_is_not_sent_again(shop, other_shop, owner):
    delivery = factories.make_delivery(other_shop, template_key="order.shipped")

    assert send_again(owner, delivery).status_code == 404
    assert (dispatches(shop), dispatches(other_shop)) == ([], [])


def test_statistics_count_a_message_for_the_day_it_was_sent(shop, other_shop, support):
    now = timezone.now()
    yesterday = now - timedelta(days=1)
    factories.make_delivery(shop, sent_at=now)
    factories.make_delivery(shop, sent_at=yesterday, delivered_at=now, opened_at=now)
    factories.make_delivery(shop, sent_at=yesterday, bounced_at=now)
    factories.make_delivery(shop, sent_at=now - timedelta(days=30))
    factories.make_delivery(other_shop, sent_at=now)

    page = support.get(STATISTICS)

    figures = page.context["figures"]
    assert len(figures) == 30
    assert [(one.sent, one.delivered, one.opened, one.bounced) for one in figures[:3]] == [
        (1, 0, 0, 0),
        (2, 1, 1, 1),
        (0, 0, 0, 0),
    ]
    assert {chart.title: chart.total for chart in page.context["charts"]} == {
        "Sent": "3",
        "Delivered": "1",
        "Opened": "1",
        "Bounced": "1",
    }
    assert f"<title>{now.day} {now:%b %Y}: 1</title>" in page.content.decode()


def test_statistics_take_a_fixed_number_of_statements(shop, owner, django_assert_num_queries):
    owner.get(STATISTICS)

    for more in (1, 3):
        for _ in range(more):
            factories.make_delivery(shop)
        with django_assert_num_queries(AROUND + 2):
            owner.get(STATISTICS)


def test_overview_shows_the_charts(shop, support):
    factories.make_delivery(shop)

    page = support.get()

    assert "Sent by day: 1 in all, 1 on the busiest day" in page.content.decode()
    assert f'href="/backoffice/{STATISTICS}"' in page.content.decode()
