"""customers.json, customers/{id}.json and customers/{id}/redact.json."""

import pytest

from commerce.customers.models import Customer
from commerce.formats import timestamp
from tests.commerce.refusals import field_errors, refusal
from tests.factories import make_customer

ADA = {"email": "Ada@Example.com"}


def customer_row(shop, customer_id):
    with shop.scope():
        return Customer.objects.get(pk=customer_id)


def customer_count(shop):
    with shop.scope():
        return Customer.objects.count()


def test_create_customer_answers_all_fields(shop):
    body = {
        "email": " Ada@Example.com ",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "phone": "+44 20 7946 0000",
        "locale": "en-GB",
        "country_code": "gb",
        "tags": ["vip", "press", "vip"],
    }

    answer = shop.admin.post("customers.json", body)

    assert answer.status_code == 201
    customer = answer.json()["customer"]
    row = customer_row(shop, customer["id"])
    assert customer == {
        "id": str(row.pk),
        "email": "Ada@Example.com",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "phone": "+44 20 7946 0000",
        "locale": "en-GB",
        "country_code": "GB",
        "tags": ["vip", "press"],
        "is_guest": False,
        "orders_count": 0,
        "total_spent_cents": "0",
        "redacted_at": None,
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }
    assert row.normalised_email == "ada@example.com"


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"email": None}, "email", "null"),
        ({"email": "ada"}, "email", "invalid"),
        ({"email": 5}, "email", "invalid"),
        ({"email": "a\x00@example.com"}, "email", "invalid"),
        ({"email": f"{'a' * 250}@example.com"}, "email", "max_length"),
        ({"email": f"{'İ' * 200}@example.com"}, "email", "max_length"),
        ({"first_name": "a" * 101}, "first_name", "max_length"),
        ({"last_name": None}, "last_name", "null"),
        ({"phone": 123}, "phone", "invalid"),
        ({"locale": "english"}, "locale", "invalid_locale"),
        ({"country_code": "XX"}, "country_code", "unknown_country"),
        ({"tags": "vip"}, "tags", "not_a_list"),
        ({"tags": ["vip", ""]}, "tags.1", "blank"),
        ({"tags": [["vip"]]}, "tags.0", "invalid"),
        ({"tags": ["a" * 65]}, "tags.0", "max_length"),
        ({"tags": [str(index) for index in range(101)]}, "tags", "max_length"),
    ],
)
def test_create_customer_refuses_bad_fields(shop, changes, field, code):
    answer = shop.admin.post("customers.json", ADA | changes)

    assert (field, code) in field_errors(answer)
    assert {name for name, _ in field_errors(answer)} == {field}
    assert customer_count(shop) == 0


def test_create_customer_refuses_a_taken_email_in_any_case(shop, other_shop):
    make_customer(shop, email="ada@example.com")

    answer = shop.admin.post("customers.json", ADA)

    assert refusal(answer) == (409, "customer_email_taken")
    assert customer_count(shop) == 1
    assert other_shop.admin.post("customers.json", ADA).status_code == 201


def test_list_customers_finds_one_by_email_in_any_case(shop):
    ada = make_customer(shop, email="Ada@Example.com")
    bob = make_customer(shop)

    everyone = shop.admin.get("customers.json").json()["customers"]
    found = shop.admin.get("customers.json?email=ADA@example.com").json()["customers"]

    assert [customer["id"] for customer in everyone] == [str(bob.pk), str(ada.pk)]
    assert [customer["id"] for customer in found] == [str(ada.pk)]


def test_list_customers_refuses_what_is_no_email(shop):
    assert field_errors(shop.admin.get("customers.json?email=ada")) == [("email", "invalid")]


@pytest.mark.parametrize("number", [1, 3])
def test_list_customers_takes_a_fixed_number_of_statements(shop, django_assert_num_queries, number):
    for _ in range(number):
        make_customer(shop)
    shop.admin.get("customers.json")

    with django_assert_num_queries(5):
        answer = shop.admin.get("customers.json")

    assert len(answer.json()["customers"]) == number


def test_update_customer_changes_only_what_is_sent(shop):
    customer = make_customer(shop, email="ada@example.com", first_name="Ada", tags=["vip"])

    answer = shop.admin.put(f"customers/{customer.pk}.json", {"email": "Ada@Example.org", "tags": []})

    assert answer.status_code == 200
    changed = answer.json()["customer"]
    assert (changed["email"], changed["first_name"], changed["tags"]) == ("Ada@Example.org", "Ada", [])
    assert customer_row(shop, customer.pk).normalised_email == "ada@example.org"
    assert shop.admin.get(f"customers/{customer.pk}.json").json() == answer.json()


def test_update_customer_refuses_a_taken_email(shop):
    make_customer(shop, email="ada@example.com")
    customer = make_customer(shop, email="bob@example.com")

    answer = shop.admin.put(f"customers/{customer.pk}.json", ADA)

    assert refusal(answer) == (409, "customer_email_taken")
    assert customer_row(shop, customer.pk).email == "bob@example.com"


def test_redact_customer_empties_the_person_and_keeps_the_figures(shop):
    customer = make_customer(
        shop,
        first_name="Ada",
        last_name="Lovelace",
        phone="1",
        locale="en-GB",
        country_code="GB",
        tags=["vip"],
        notification_preferences={"order.confirmation": False},
        orders_count=3,
    )

    answer = shop.admin.post(f"customers/{customer.pk}/redact.json")

    assert answer.status_code == 200
    redacted = answer.json()["customer"]
    person = ("email", "first_name", "last_name", "phone", "locale", "country_code", "tags")
    assert [redacted[field] for field in person] == [None, "", "", "", None, None, []]
    assert (redacted["orders_count"], redacted["total_spent_cents"]) == (3, "0")
    row = customer_row(shop, customer.pk)
    assert (row.normalised_email, row.notification_preferences) == (None, {})
    assert redacted["redacted_at"] == timestamp(row.redacted_at)


def test_redact_customer_repeated_answers_the_same(shop):
    customer = make_customer(shop)
    first = shop.admin.post(f"customers/{customer.pk}/redact.json")

    second = shop.admin.post(f"customers/{customer.pk}/redact.json")

    assert second.json() == first.json()


def test_redact_customer_frees_the_email(shop):
    customer = make_customer(shop, email="ada@example.com")
    shop.admin.post(f"customers/{customer.pk}/redact.json")

    assert shop.admin.post("customers.json", ADA).status_code == 201


def test_update_of_a_redacted_customer_is_refused(shop):
    customer = make_customer(shop)
    shop.admin.post(f"customers/{customer.pk}/redact.json")

    answer = shop.admin.put(f"customers/{customer.pk}.json", {"first_name": "Ada"})

    assert refusal(answer) == (409, "customer_redacted")
    assert customer_row(shop, customer.pk).first_name == ""


@pytest.mark.parametrize(("method", "path"), [("get", ".json"), ("put", ".json"), ("post", "/redact.json")])
def test_customer_of_another_shop_is_not_found(shop, other_shop, method, path):
    customer = make_customer(other_shop, email="ada@example.com")

    assert refusal(getattr(shop.admin, method)(f"customers/{customer.pk}{path}")) == (404, "not_found")
    assert customer_row(other_shop, customer.pk).email == "ada@example.com"


def test_customers_need_the_scope_of_customers(shop):
    reader = shop.client_with("read_customers")

    assert reader.get("customers.json").status_code == 200
    assert refusal(reader.post("customers.json", ADA)) == (403, "insufficient_scope")
    assert refusal(shop.client_with("write_orders").get("segments.json")) == (403, "insufficient_scope")
