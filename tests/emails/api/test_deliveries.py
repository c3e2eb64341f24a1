from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emails.models import EmailDelivery
from tests.factories import make_customer, make_delivery

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SHOWN_NOW = "2026-11-20T09:30:00Z"


def list_ids(client, query=""):
    return [row["id"] for row in client.get(f"email/deliveries.json{query}").json()["email_deliveries"]]


@pytest.fixture
def delivery(shop):
    return make_delivery(
        shop,
        customer=make_customer(shop),
        reference_type="order",
        reference_id=7,
        provider_message_id="<1@localhost>",
        queued_at=NOW,
        sent_at=NOW,
    )


def describe(delivery):
    return {
        "id": str(delivery.pk),
        "template_key": "order.confirmation",
        "customer_id": str(delivery.customer_id),
        "to_email": "ann@example.com",
        "locale": "en",
        "subject": "Your order",
        "provider": "local",
        "provider_message_id": "<1@localhost>",
        "reference_type": "order",
        "reference_id": "7",
        "status": "sent",
        "queued_at": SHOWN_NOW,
        "sent_at": SHOWN_NOW,
        "delivered_at": None,
        "opened_at": None,
        "first_clicked_at": None,
        "bounced_at": None,
    }


def test_delivery_is_shown_without_its_body(shop, delivery):
    response = shop.admin.get(f"email/deliveries/{delivery.pk}.json")

    assert response.status_code == 200
    assert response.json() == {"email_delivery": describe(delivery)}


def test_delivery_is_shown_with_its_body_when_asked_for(shop, delivery):
    response = shop.admin.get(f"email/deliveries/{delivery.pk}.json?include_body=true")

    body = {"html": "<p>Thank you</p>", "text": "Thank you", "ctx": {"number": "1001"}}
    assert response.json() == {"email_delivery": describe(delivery) | body}


@pytest.mark.parametrize("value", ["maybe", "", "%00"])
def test_delivery_with_an_option_that_means_nothing_is_refused(shop, delivery, value):
    response = shop.admin.get(f"email/deliveries/{delivery.pk}.json?include_body={value}")

    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "include_body"


def test_deliveries_come_newest_first_and_page_by_page(shop):
    made = [str(make_delivery(shop).pk) for _ in range(3)]

    first = shop.admin.get("email/deliveries.json?limit=2").json()
    second = shop.admin.get(f"email/deliveries.json?limit=2&cursor_id={first['next_cursor_id']}").json()

    assert [row["id"] for row in first["email_deliveries"]] == [made[2], made[1]]
    assert [row["id"] for row in second["email_deliveries"]] == [made[0]]
    assert second["next_cursor_id"] is None


def test_deliveries_are_listed_without_bodies(shop, delivery):
    response = shop.admin.get("email/deliveries.json")

    assert response.json() == {"email_deliveries": [describe(delivery)], "next_cursor_id": None}


@pytest.mark.parametrize("field", ["customer_id", "status", "template_key", "reference_type", "reference_id"])
def test_deliveries_filtered_by_each_field(shop, field):
    wanted = make_delivery(
        shop,
        customer=make_customer(shop),
        status="bounced",
        template_key="order.shipped",
        reference_type="order",
        reference_id=7,
    )
    make_delivery(shop, customer=make_customer(shop), reference_type="checkout", reference_id=8)
    make_delivery(shop)

    assert list_ids(shop.admin, f"?{field}={getattr(wanted, field)}") == [str(wanted.pk)]


def test_deliveries_filtered_by_all_fields_at_once(shop, delivery):
    make_delivery(shop, reference_type="order", reference_id=7)
    query = (
        f"?customer_id={delivery.customer_id}&status=sent&template_key=order.confirmation"
        "&reference_type=order&reference_id=7"
    )

    assert list_ids(shop.admin, query) == [str(delivery.pk)]


@pytest.mark.parametrize(
    "query",
    [
        "customer_id=x",
        "customer_id=0",
        "customer_id=99999999999999999999",
        "reference_id=1.5",
        "status=unheard-of",
        "template_key=%00",
        "limit=0",
        "cursor_id=x",
    ],
)
def test_deliveries_with_a_query_that_means_nothing_are_refused(shop, query):
    response = shop.admin.get(f"email/deliveries.json?{query}")

    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == query.partition("=")[0]


def test_delivery_of_another_account_is_not_found(shop, other_shop):
    foreign = make_delivery(other_shop)

    assert list_ids(shop.admin) == []
    assert shop.admin.get(f"email/deliveries/{foreign.pk}.json").status_code == 404


def test_deliveries_need_their_scope(shop):
    assert shop.client_with("read_emails").get("email/deliveries.json").status_code == 200

    response = shop.client_with("read_orders").get("email/deliveries.json")

    assert response.status_code == 403


@pytest.mark.parametrize("number", [1, 3])
def test_deliveries_take_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        make_delivery(shop, customer=make_customer(shop))
    shop.admin.get("email/deliveries.json")

    with django_assert_num_queries(5):
        assert len(list_ids(shop.admin)) == number


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("customer_id={customer}", "email_deliveries_customer"),
        ("status=bounced", "email_deliveries_status"),
        ("template_key=order.shipped", "email_deliveries_template"),
        ("reference_type=order&reference_id=7", "email_deliveries_reference"),
        ("limit=50", "email_deliveries_pkey"),
    ],
)
def test_deliveries_are_found_by_an_index(shop, other_shop, query, index):
    customer = make_customer(shop)
    make_delivery(
        shop,
        customer=customer,
        status="bounced",
        template_key="order.shipped",
        reference_type="order",
        reference_id=7,
    )
    for owner in (shop, other_shop):
        fill(owner, 3000)

    with CaptureQueriesContext(connection) as queries:
        list_ids(shop.admin, "?" + query.format(customer=customer.pk))

    (sql,) = [one["sql"] for one in queries.captured_queries if 'FROM "email_deliveries"' in one["sql"]]
    with shop.scope(), connection.cursor() as cursor:
        cursor.execute("ANALYZE email_deliveries")
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert f"using {index}" in plan or f"on {index}" in plan


def fill(shop, number):
    """Create deliveries that no filter matches."""
    with shop.scope():
        others = [make_customer(shop) for _ in range(20)]
        EmailDelivery.objects.bulk_create(
            EmailDelivery(
                template_key="order.confirmation",
                customer=others[index % 20],
                to_email="ann@example.com",
                locale="en",
                subject="",
                html="",
                text="",
                provider="local",
                provider_message_id=f"{index}",
                idempotency_key=f"filled-{index}",
                reference_type="checkout",
                reference_id=index,
                queued_at=NOW,
                sent_at=NOW,
            )
            for index in range(number)
        )
